"""Times at which devices are not to be worked on."""
