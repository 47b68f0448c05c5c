"""Certificates in Dask's form."""

from distributed.security import Security

from service.cluster.link import Link


def security_of(link: Link) -> Security | None:
    """Return the same certificate for every role; None over plain TCP."""
    files = link.certificates
    if files is None:
        return None
    shown = {"cert": str(files.cert), "key": str(files.key)}
    roles = {f"tls_{role}_{part}": path for role in ("client", "worker", "scheduler") for part, path in shown.items()}
    return Security(tls_ca_file=str(files.ca), require_encryption=True, **roles)
