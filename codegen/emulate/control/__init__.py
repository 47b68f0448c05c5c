"""Control flow of an emulated kernel where lanes diverge."""
