"""Configurations of an Xe device as points: axes, conversions, and the points of a space."""
