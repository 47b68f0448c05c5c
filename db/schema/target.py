"""Tuning targets: problems and devices."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import Base, one_of
from db.values import JsonObject, utc_now

DEVICE_KINDS = ("gpu", "cpu")


class Device(Base):
    """A device under one driver; another driver of the same device is another row.

    `slug` is the stable name people use ("b580"); `name` is the name that the hardware reports. `driver` is
    empty if unknown (a device of the table that is not present). `emulates` is the slug of the GPU whose
    kernels it runs with emulated built-ins. `rates` are those measured on a CPU when it was first used.
    """

    __tablename__ = "device"
    __table_args__ = (
        UniqueConstraint("slug", "driver"),
        CheckConstraint("length(slug) > 0", name="slug_not_empty"),
        CheckConstraint(one_of("kind", DEVICE_KINDS), name="kind_known"),
        CheckConstraint("emulates IS NULL OR emulates <> slug", name="emulates_another"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str]
    driver: Mapped[str] = mapped_column(default="")
    name: Mapped[str]
    kind: Mapped[str]
    emulates: Mapped[str | None]
    spec: Mapped[JsonObject]
    rates: Mapped[JsonObject | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class Problem(Base):
    """A GEMM. `definition` is its canonical JSON; the columns are for people and filters. `products` of M x N x K are
    computed: two of a gated problem. `quantization` is the text form of that of B, empty if there is none.
    """

    __tablename__ = "problem"
    __table_args__ = (
        UniqueConstraint("key"),
        Index(None, "m", "n", "k"),
        CheckConstraint("length(key) = 64", name="key_is_sha256"),
        CheckConstraint("m > 0 AND n > 0 AND k > 0", name="size_positive"),
        CheckConstraint("batch > 0", name="batch_positive"),
        CheckConstraint("products > 0", name="products_positive"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str]
    m: Mapped[int]
    n: Mapped[int]
    k: Mapped[int]
    batch: Mapped[int]
    dtype_a: Mapped[str]
    dtype_b: Mapped[str]
    dtype_c: Mapped[str]
    dtype_acc: Mapped[str]
    transpose_a: Mapped[bool]
    transpose_b: Mapped[bool]
    products: Mapped[int]
    quantization: Mapped[str]
    definition: Mapped[JsonObject]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)

    @property
    def flops(self) -> int:
        """Floating-point operations of the products: two for each multiply-add."""
        return 2 * self.products * self.batch * self.m * self.n * self.k
