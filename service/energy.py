"""Energy of a launch in words; includes idle power."""

_UNITS = ((1e6, "J"), (1e3, "mJ"), (1.0, "µJ"))


def energy_text(energy_uj: float) -> str:
    """Format microjoules with a unit: 5120 as "5.12 mJ"."""
    size, unit = next(((size, unit) for size, unit in _UNITS if energy_uj >= size), _UNITS[-1])
    return f"{energy_uj / size:.3g} {unit}"
