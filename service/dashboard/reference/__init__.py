"""The reference of the API."""
