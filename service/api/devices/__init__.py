"""The devices that can be tuned for, over REST."""
