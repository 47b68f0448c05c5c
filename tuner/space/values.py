"""Values of a configuration on the axes of a space."""

Value = int | float | str
