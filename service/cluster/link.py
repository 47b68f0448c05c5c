"""Connection of processes to a Dask scheduler: its address, and the certificates of both sides."""

import ipaddress
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from service.settings import InvalidSettings, Settings

_FORM = re.compile(r"(tcp|tls)://(?P<host>\[[0-9a-fA-F:]+\]|[^\[\]:/@\s]+):(?P<port>\d{1,5})")


@dataclass(frozen=True, slots=True)
class Certificates:
    """PEM files: the authority, and the certificate and key of this process."""

    ca: Path
    cert: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Link:
    """A valid address of a scheduler; `certificates` only with tls://."""

    address: str
    host: str
    port: int
    certificates: Certificates | None

    @property
    def on_loopback(self) -> bool:
        """True if only processes of this machine can reach it."""
        return is_loopback(self.host)


def link_to(address: str, settings: Settings, *, insecure: bool) -> Link:
    """Parse an address, with the certificates of the settings.

    Anyone who can reach a scheduler or a worker of Dask can run code there, as its user: plain text is
    accepted only on loopback, unless `insecure` states that the network is closed to others.

    Raises:
        InvalidSettings: not an address, open to a network, or without certificates.
    """
    form = _FORM.fullmatch(address)
    if form is None or not 0 < int(form["port"]) < 2**16:
        raise InvalidSettings(f"expected a scheduler as tls://<host>:<port> or tcp://<host>:<port>, got {address!r}")
    host, is_plain = form["host"].strip("[]"), address.startswith("tcp:")
    if is_plain and not is_loopback(host) and not insecure:
        raise InvalidSettings(
            f"{address} is open to the network, and who reaches a Dask process can run any code there: use tls:// with "
            "XETUNE_CLUSTER_CA, XETUNE_CLUSTER_CERT and XETUNE_CLUSTER_KEY, or --insecure in a network that only "
            "trusted users reach"
        )
    return Link(address, host, int(form["port"]), None if is_plain else _certificates(address, settings))


def check_installed() -> None:
    """Check that Dask is installed.

    Raises:
        InvalidSettings: it is not.
    """
    if find_spec("distributed") is None:
        raise InvalidSettings("many machines need Dask: pip install 'xetune[cluster]'")


def is_loopback(host: str) -> bool:
    """Return whether a name or address is this machine's loopback."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _certificates(address: str, settings: Settings) -> Certificates:
    named = {"CA": settings.cluster_ca, "CERT": settings.cluster_cert, "KEY": settings.cluster_key}
    missing = [f"XETUNE_CLUSTER_{name}" for name, path in named.items() if path is None or not path.is_file()]
    ca, cert, key = named.values()
    if missing or ca is None or cert is None or key is None:
        raise InvalidSettings(f"{address} needs certificates: {', '.join(missing)} must name a PEM file")
    return Certificates(ca, cert, key)
