"""The page with a free choice of axes over trials."""
