"""API keys: who may ask, and for what."""
