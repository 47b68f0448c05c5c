"""Facts of devices: specifications, hardware tables and the host CPU."""
