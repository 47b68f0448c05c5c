"""Sharding of machines between several coordinators."""

import re
import zlib
from dataclasses import dataclass

from service.settings import InvalidSettings


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard `number` of `of` equal ones, counted from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @property
    def is_first(self) -> bool:
        """True for the shard of what belongs to no machine."""
        return self.number == 1

    def has(self, address: str) -> bool:
        """Return whether a worker is in this shard: by its address only, so that all coordinators agree."""
        return zlib.crc32(address.encode()) % self.of == self.number - 1


WHOLE = Shard(1, 1)


def parse_shard(text: str) -> Shard:
    """Parse a shard such as "2/4".

    Raises:
        InvalidSettings: not a shard.
    """
    form = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text)
    if form is None or not 1 <= int(form[1]) <= int(form[2]):
        raise InvalidSettings(f"expected a shard such as 2/4, from 1/4 to 4/4, got {text!r}")
    return Shard(int(form[1]), int(form[2]))
