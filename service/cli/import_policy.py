"""Policy of a command for imports: what libraries import and a command never uses is left out.

It took a twentieth of the processor time of a command that lists.
"""

import os
import sys

_UNUSED = (
    "httpx._main",  # httpx's own command line, with pygments and rich's progress
    "pydantic.v1",  # FastAPI imports it to refuse models of pydantic 1
)


def leave_out_unused_parts() -> None:
    """Let imports of the unused modules fail in this process, as where they are not installed, and let pydantic search
    no installed package for plugins, unless PYDANTIC_DISABLE_PLUGINS is set.
    """
    sys.modules.update(dict.fromkeys(_UNUSED))  # pyright: ignore[reportArgumentType, reportCallIssue]
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
