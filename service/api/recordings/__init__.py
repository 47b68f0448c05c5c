"""Results that files of other formats brought."""
