"""Emulation of Xe kernels on an OpenCL CPU device, with emulated built-ins.

The CPU has no 2-D block messages and no DPAS. Its compiler takes seconds to vectorise kernels over the lanes of a
sub-group, so the lanes are made explicit here instead: one work-item runs a whole sub-group, a value that differs
between lanes is a row of 16 or an array of rows, and the built-ins are functions that work on such arrays. Diverged
lanes execute one path after another. A work-group has a sixteenth of its work-items.
"""

from codegen.emulate.rewrite import emulate

__all__ = ["emulate"]
