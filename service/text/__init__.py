"""Values as text that people read: on pages, in the terminal, in errors."""
