"""Results of other tuners as records, and back: Kernel Tuner, Triton, Helion, vLLM and SGLang.

Nothing here imports these programs, except `helion`, which is a part of theirs.
"""

from xetune_client.tuners.stated import InvalidEntry, Stated

__all__ = ["InvalidEntry", "Stated"]
