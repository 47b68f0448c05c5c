"""Two kernels beside each other: what differs, and what that cost."""
