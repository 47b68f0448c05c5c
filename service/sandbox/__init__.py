"""A confined child: a process for what strangers send, which can use little, reach nothing and change nothing."""
