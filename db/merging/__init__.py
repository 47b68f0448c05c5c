"""Brings the results of one database into another: what is equal once, what differs by evidence and date."""
