"""Results and devices as commands use them: of a service, or of this machine without one."""
