"""The policy of a command for imports."""

import subprocess
import sys

_LEFT_OUT = """
from service.cli.import_policy import leave_out_unused_parts
leave_out_unused_parts()
import sys
import httpx
print([name for name in ("pygments", "rich") if name in sys.modules])
"""


def test_httpx_works_without_its_command_line() -> None:
    run = [sys.executable, "-W", "error", "-c", _LEFT_OUT]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


_LATE = """
from service.cli.import_policy import late_asyncio
with late_asyncio():
    import sqlalchemy.dialects.sqlite
import sys
print("asyncio" in sys.modules)
from sqlalchemy.util import compat, concurrency
async def work():
    return 1
running = work()
print(concurrency.iscoroutine(running), concurrency.iscoroutine(1))
print(compat.asyncio.run(running), compat.asyncio.events is sys.modules["asyncio.events"])
"""


def test_sqlalchemy_imports_asyncio_when_it_uses_it() -> None:
    run = [sys.executable, "-W", "error", "-c", _LATE]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["False", "True", "False", "1", "True"]
