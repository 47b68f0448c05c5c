"""The audit log: who changed what, when, and by which request."""
