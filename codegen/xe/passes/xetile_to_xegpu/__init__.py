"""How each group of XeTile operations becomes XeGPU: the parts of lower-xetile."""
