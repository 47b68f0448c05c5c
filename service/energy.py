"""Energy in words: of a launch, idle power included."""

_UNITS = ((1e6, "J"), (1e3, "mJ"), (1.0, "µJ"))


def energy_text(energy_uj: float) -> str:
    """Microjoules as a person reads them: 5120 as "5.12 mJ"."""
    size, unit = next(((size, unit) for size, unit in _UNITS if energy_uj >= size), _UNITS[-1])
    return f"{energy_uj / size:.3g} {unit}"
