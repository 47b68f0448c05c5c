"""Resolution of the model: which differences of predicted times mean something."""

RESOLUTION = 1.07
"""Ratio of predicted times below which they do not tell which kernel is faster: of 2,733 pairs of configurations of one
shape on a B70 that are nearer to each other, 62 % are ordered correctly. Source: benchmarks/model/evaluate.py."""
