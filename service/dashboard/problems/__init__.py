"""Pages of problems: the list, and one problem on one device over all its jobs."""
