"""Tries the service against its contract, openapi.yaml, with requests that Schemathesis draws.

Run: python -m benchmarks.service.contract [--examples 15] [--seconds 240] [--st PATH]

Needs Schemathesis 4 (`st` in PATH or --st; it is no dependency of this program). The service runs on a new SQLite
database in a folder of its own, asks for a key, and has no worker. What must hold: no answer that the contract does not
state, no request against it accepted, every method that it lacks refused by 405, and no fault.

Left out: event streams, which do not end; compilations, which take seconds each; and keys, which would revoke the one
used. Not held: that data within the contract is accepted, for no schema says the rules about problems and devices.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from db.migrate import prepare
from db.values import utc_now
from service.api.keys import service as keys
from service.api.keys.caller import COMMAND_LINE
from service.api.keys.schemas import KeyBody
from service.api.keys.scope import Scope
from service.openapi.contract import CONTRACT_FILE
from service.settings import Settings

_PORT = 8791
_LEFT_OUT = ("--exclude-path-regex", "/events$", "--exclude-path", "/v1/keys", "--exclude-path", "/v1/compile")
_REVOKE = ("--exclude-path", "/v1/keys/{key_id}/revoke")
_SETTINGS = {
    "XETUNE_PORT": str(_PORT),
    "XETUNE_RATE_PER_S": "0",
    "XETUNE_MAX_ACTIVE_JOBS": "1000000",
    "XETUNE_LOG_LEVEL": "warning",
}


def main() -> int:
    """Start the service, let Schemathesis try it, and say how that ended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=15, help="most drawn requests of an operation")
    parser.add_argument("--seconds", type=int, default=240, help="longest run")
    parser.add_argument("--st", default=shutil.which("st"), help="Schemathesis' command")
    options = parser.parse_args()
    if options.st is None:
        sys.exit("Schemathesis is not here: pip install schemathesis into an environment of its own, and give --st")
    with tempfile.TemporaryDirectory(prefix="xetune-contract-") as folder:
        key = _key(Path(folder))
        environment = {**os.environ, **_SETTINGS, "XETUNE_DATA_DIR": folder}
        command = [sys.executable, "-m", "service.cli", "serve", "--no-worker"]
        with subprocess.Popen(command, env=environment) as served:
            try:
                _wait(served)
                return _try(options.st, key, options.examples, options.seconds, Path(folder))
            finally:
                served.terminate()


def _key(folder: Path) -> str:
    """A key of a new database, from which on all requests need one."""
    database = prepare(Settings(data_dir=folder).database_url, create=True)
    with database.write() as session:
        made = keys.create(session, KeyBody(name="contract", scope=Scope.ADMIN), utc_now(), COMMAND_LINE)
    database.close()
    assert made.key is not None  # it is new
    return made.key


def _wait(served: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        try:
            urlopen(f"http://127.0.0.1:{_PORT}/healthz", timeout=5).close()
        except URLError:
            if served.poll() is not None:
                sys.exit(f"the service ended with {served.returncode}")
            time.sleep(0.1)
        else:
            return
    sys.exit("the service did not start within a minute")


def _try(st: str, key: str, examples: int, seconds: int, folder: Path) -> int:
    command = [st, "run", str(CONTRACT_FILE), "--url", f"http://127.0.0.1:{_PORT}", "-c", "all"]
    command += ["--phases", "examples,coverage,fuzzing", "--max-examples", str(examples), "--max-time", str(seconds)]
    command += ["--exclude-checks", "positive_data_acceptance", "--continue-on-failure", "--request-timeout", "60"]
    command += ["-H", f"Authorization: Bearer {key}", *_LEFT_OUT, *_REVOKE]
    return subprocess.run(command, cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
