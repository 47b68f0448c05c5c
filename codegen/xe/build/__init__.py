"""Generation of XeTile for a problem and a configuration."""
