"""Keys as text: `xetune_<prefix>_<secret>`.

The secret is 256 random bits, so SHA-256 is a safe hash: salts and slow hashes protect passwords that can be
guessed.
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
    """A key with its secret; `prefix` may be shown, `text` only once and never in a log."""

    prefix: str
    text: str

    def __repr__(self) -> str:
        return f"Token({self.prefix})"

    @property
    def sha256(self) -> str:
        """Hash that is stored."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def matches(self, kept_sha256: str | None) -> bool:
        """Return whether this is the key of a stored hash, in constant time, also for None (no such key)."""
        same = hmac.compare_digest(self.sha256, _NOBODYS if kept_sha256 is None else kept_sha256)
        return same and kept_sha256 is not None


def new_token() -> Token:
    """Return a new random key."""
    prefix = secrets.token_hex(_PREFIX_BYTES)
    return Token(prefix, f"xetune_{prefix}_{secrets.token_urlsafe(_SECRET_BYTES)}")


def read_token(text: str) -> Token | None:
    """Parse a key; None if the text is not one."""
    form = _FORM.fullmatch(text)
    return None if form is None else Token(form[1], text)
