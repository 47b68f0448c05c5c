"""Keys as text: `xetune_<prefix>_<secret>`.

The secret is 256 random bits, so that SHA-256 keeps it safe at rest: salts and slow hashes protect what people think
of, which can be guessed; nobody guesses this.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass

_PREFIX_BYTES = 6
_SECRET_BYTES = 32
_FORM = re.compile(r"xetune_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")
_NOBODYS = hashlib.sha256(secrets.token_bytes(_SECRET_BYTES)).hexdigest()


@dataclass(frozen=True, slots=True)
class Token:
    """A key as its owner has it; `prefix` may be shown, `text` only once and never in a log."""

    prefix: str
    text: str

    def __repr__(self) -> str:
        return f"Token({self.prefix})"

    @property
    def sha256(self) -> str:
        """What is kept of it."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def matches(self, kept_sha256: str | None) -> bool:
        """Whether this is the key of which that is kept; takes as long for None, where nothing is."""
        same = hmac.compare_digest(self.sha256, _NOBODYS if kept_sha256 is None else kept_sha256)
        return same and kept_sha256 is not None


def new_token() -> Token:
    """A key that nobody has."""
    prefix = secrets.token_hex(_PREFIX_BYTES)
    return Token(prefix, f"xetune_{prefix}_{secrets.token_urlsafe(_SECRET_BYTES)}")


def read_token(text: str) -> Token | None:
    """The key that a text is; None for what cannot be one."""
    form = _FORM.fullmatch(text)
    return None if form is None else Token(form[1], text)
