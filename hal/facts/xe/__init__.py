"""Table of Intel GPUs: one row per device, each fact with the public source that states it or its derivation.

A fact that no source states is left out. We measured none of these; a probe of the device itself overrides a row.
`l1_bytes` is the storage that a core's L1 cache and shared local memory share.
"""

from hal.facts.xe.lookup import (
    XE_DEVICES,
    find,
    find_by_ip_version,
    find_by_pci_id,
    row_of,
    suggestion,
)
from hal.facts.xe.row import XeDevice

__all__ = ["XE_DEVICES", "XeDevice", "find", "find_by_ip_version", "find_by_pci_id", "row_of", "suggestion"]
