"""Where kernels are compiled and run: this machine or many, and the one who gives them work."""
