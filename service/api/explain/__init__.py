"""Performance breakdown of a configuration: predicted time by part on a GPU, loops on a CPU."""
