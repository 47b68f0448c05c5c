"""Passes over XeTile and XeGPU: one per file, named like its flag."""
