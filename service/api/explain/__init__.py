"""Why a configuration takes the time that it does: predicted part by part on a GPU, by its loops on a CPU."""
