"""The configurations of an Xe device as points: their axes, what each says, and which of them a space holds."""
