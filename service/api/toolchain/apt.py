"""Download of packages from a distribution's newest suite with apt-get, into a separate folder and without
root.

The mirror, proxies and keys are those of the system.
"""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Percent = Callable[[float], None]

_TOLD_LINES = 3


class AptFailed(Exception):
    """apt-get failed, or knows no mirror; the message has its output."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution that has the compiler: its signer, its newest suite, and the location of the packages in
    it.
    """

    id: str
    origin: str
    suite: str
    components: str
    keyring: Path


_KEYRINGS = Path("/usr/share/keyrings")
_DISTRIBUTIONS = (
    # Derivatives of Ubuntu name both: the first name is used.
    Distribution("ubuntu", "Ubuntu", "devel", "main universe", _KEYRINGS / "ubuntu-archive-keyring.gpg"),
    Distribution("debian", "Debian", "sid", "main", _KEYRINGS / "debian-archive-keyring.gpg"),
)


def distribution_of(os_release: Mapping[str, str]) -> Distribution | None:
    """Return the distribution that os-release names, or that it is like; None for others."""
    names = f"{os_release.get('ID', '')} {os_release.get('ID_LIKE', '')}".split()
    return next((distribution for distribution in _DISTRIBUTIONS if distribution.id in names), None)


@dataclass(frozen=True, slots=True)
class Apt:
    """apt-get with lists, cache and state in a separate folder."""

    folder: Path
    options: tuple[str, ...]

    @classmethod
    def within(cls, folder: Path, distribution: Distribution) -> "Apt":
        """Create the folder, for a distribution's newest suite.

        Raises:
            AptFailed: the system has no mirror of it.
        """
        for name in ("lists/partial", "cache/archives/partial", "none"):
            (folder / name).mkdir(parents=True)
        (folder / "status").touch()
        signed_by = f"[signed-by={distribution.keyring}] " if distribution.keyring.exists() else ""
        where = f"{_mirror(distribution)} {distribution.suite} {distribution.components}"
        (folder / "sources.list").write_text(f"deb {signed_by}{where}\n")
        options = {
            "Dir::Etc::sourcelist": folder / "sources.list",
            "Dir::Etc::sourceparts": "-",
            "Dir::Etc::preferences": "/dev/null",
            "Dir::Etc::preferencesparts": folder / "none",
            "Dir::State::Lists": folder / "lists",
            "Dir::State::status": folder / "status",
            "Dir::Cache": folder / "cache",
            "APT::Install-Recommends": "false",
            "APT::Sandbox::User": "root",  # the folder belongs to this user only
            "APT::Status-Fd": 1,
            "Acquire::Languages": "none",
            "Acquire::Retries": 2,
        }
        return cls(folder, tuple(f"-o{name}={value}" for name, value in options.items()))

    def update(self, percent: Percent) -> None:
        """Fetch the lists of packages.

        Raises:
            AptFailed: the mirror does not answer, or is not signed by the distribution.
        """
        self._run(["update"], percent)

    def download(self, packages: Sequence[str], percent: Percent) -> list[Path]:
        """Download packages with their dependencies, down to the C library.

        Raises:
            AptFailed: a package does not exist, or a download fails.
        """
        self._run(["--yes", "--download-only", "install", *packages], percent)
        return sorted((self.folder / "cache" / "archives").glob("*.deb"))

    def _run(self, arguments: list[str], percent: Percent) -> None:
        command = ["env", "LC_ALL=C", "apt-get", "-qq", *self.options, *arguments]
        said: list[str] = []
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
            assert run.stdout is not None
            for line in run.stdout:
                if line.startswith("dlstatus:"):  # dlstatus:NUMBER:PERCENT:TEXT
                    percent(float(line.split(":")[2]))
                elif line.startswith(("E:", "W:")):
                    said.append(line.strip())
        if run.returncode:
            told = "; ".join(said[-_TOLD_LINES:]) or f"exit status {run.returncode}"
            raise AptFailed(f"apt-get: {told}")


def _mirror(distribution: Distribution) -> str:
    """Return the system's mirror of the distribution."""
    asked = ["apt-get", "indextargets", "--format", "$(ORIGIN)|$(SITE)", "Created-By: Packages"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    known = [line.split("|", 1) for line in done.stdout.splitlines() if "|" in line]
    # Without lists, as in a fresh container, the origin is unknown; the address identifies the mirror.
    fits = [
        site.rstrip("/")
        for origin, site in known
        if "security" not in site and (origin == distribution.origin or site.rstrip("/").endswith(distribution.id))
    ]
    if not fits:
        raise AptFailed(f"the system's package sources name no mirror of {distribution.origin}")
    return fits[0]
