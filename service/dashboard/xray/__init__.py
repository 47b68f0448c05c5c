"""X-ray: kernels in files of others, and stored kernels as those are shown."""
