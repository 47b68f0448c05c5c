"""Values of device facts, bare for columns and with units for sentences."""

from hal import DeviceSpec

UNKNOWN = "-"

_UNITS = {
    "grf_modes": "registers a thread",
    "subgroup_sizes": "lanes",
    "dpas_m": "rows",
    "dpas_n": "columns",
    "block2d_max_rows": "rows",
    "max_workgroup_size": "work-items",
    "threads_per_eu": "threads",
    "threads_per_eu_large_grf": "threads",
    "threads_per_eu_by_grf_mode": "threads, by GRF mode",
    "clock_mhz": "MHz",
    "nominal_clock_mhz": "MHz",
}
# Suffix of a name; the first match is used.
_ENDINGS = {
    "_bytes_per_clk_per_core": "B a clock and core",
    "_fma_per_clk_per_eu": "a clock and EU",
    "_fma_per_clk_per_core": "a clock and core",
    "_mac_per_clk_per_eu": "a clock and EU",
    "eus_per_core": "engines",
    "xe_cores": "Xe cores",
    "_per_core": "a core",
    "cores": "cores",
}


def shown(spec: DeviceSpec, name: str) -> str:
    """Format a fact for columns; bytes with their unit; "-" if unknown."""
    match getattr(spec, name):
        case None:
            return UNKNOWN
        case bool(value):
            return "yes" if value else "no"
        case tuple() as values:
            return " ".join(str(value) for value in values) or "none"
        case int(value) if name.endswith("_bytes_per_s"):
            return f"{value / 1e9:g} GB/s"
        case int(value) if "bytes" in name and "per_clk" not in name:
            return binary(value)
        case value:
            return str(value)


def with_unit(spec: DeviceSpec, name: str) -> str:
    """Format a known fact with its unit."""
    unit = _UNITS.get(name) or next((unit for ending, unit in _ENDINGS.items() if name.endswith(ending)), None)
    bare = shown(spec, name)
    return f"{bare} {unit}" if unit is not None and not bare.endswith("B") else bare


def binary(nbytes: int) -> str:
    """Format bytes in the largest unit with a number above one."""
    for power, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        if nbytes >= 1024**power:
            return f"{nbytes / 1024**power:.4g} {unit}"
    return f"{nbytes} B"
