"""Looks the locked dependencies up in the advisory database of PyPI: exit status 1 if one has a known weakness.

Where the database cannot be reached it says so and passes: a machine without it must still be able to build.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

LOCK = Path(__file__).resolve().parents[1] / "requirements.lock"
_TIMEOUT_S = 300


def main() -> int:
    """Audit the lock with the pip-audit beside this Python; print what was found."""
    tool = Path(sys.executable).with_name("pip-audit")
    command = [str(tool), "--require-hashes", "--disable-pip", "--progress-spinner", "off", "--format", "json"]
    command += ["--requirement", str(LOCK)]
    try:
        done = subprocess.run(
            [*command, "--requirement", str(LOCK)], capture_output=True, text=True, timeout=_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return _end(unreachable(str(error)))
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return _end(unreachable(done.stderr.strip().rpartition("\n")[2]))
    return _end(verdict(report))


def verdict(report: dict[str, Any]) -> tuple[int, list[str]]:
    """Exit status and lines for a report of pip-audit."""
    found = report["dependencies"]
    skipped = [d for d in found if "skip_reason" in d]
    weak = [(d, v) for d in found for v in d.get("vulns", ())]
    if len(skipped) == len(found):
        return unreachable(skipped[0]["skip_reason"] if skipped else "the lock names nothing")
    lines = [f"{d['name']} {d['version']}: {v['id']}, mended in {_versions(v)}" for d, v in weak]
    if skipped:
        lines.append(f"not audited, since the database does not know them: {', '.join(d['name'] for d in skipped)}")
    lines.append(f"{len(found) - len(skipped)} of {len(found)} dependencies audited, {len(weak)} known weaknesses")
    return (1 if weak else 0), lines


def _versions(weakness: dict[str, Any]) -> str:
    return ", ".join(weakness["fix_versions"]) or "no version yet"


def unreachable(why: str) -> tuple[int, list[str]]:
    """Exit status and lines where nothing could be looked up."""
    return 0, [f"SKIPPED: nothing was audited, the advisory database cannot be reached ({why[:200]})"]


def _end(told: tuple[int, list[str]]) -> int:
    status, lines = told
    print("\n".join(lines))
    return status


if __name__ == "__main__":
    raise SystemExit(main())
