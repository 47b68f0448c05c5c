"""Pages for people: what is tuned, how it went, and the kernels that came out."""
