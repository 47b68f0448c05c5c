"""Accuracy of predictions for a device, judged by its measurements."""
