"""The devices of this machine and of the table: listed, matched and opened by name."""
