"""What every HTTP request passes: guards, limits, errors."""
