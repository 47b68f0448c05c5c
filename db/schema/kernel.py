"""Compiled kernels and their files."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from db.schema.base import Base
from db.schema.target import (
    Device,
    Problem,
)
from db.values import JsonObject, new_id, utc_now


class Kernel(Base):
    """One binary of one configuration, on the device it was tuned on.

    `compile_key` hashes its inputs, `content_hash` its SPIR-V; `target` is the slug of the device it was compiled
    for. `manifest` is the content of kernel.json: arguments and launch. `origin` is where it was compiled; None
    if here. `withdrawn` is the reason why it is served no more.
    """

    __tablename__ = "kernel"
    __table_args__ = (
        UniqueConstraint("device_id", "compile_key", "content_hash"),
        Index(None, "problem_id", "device_id"),
        Index(None, "device_id", "id"),
        CheckConstraint("length(config_hash) = 64", name="config_hash_is_sha256"),
        CheckConstraint("length(compile_key) = 64", name="compile_key_is_sha256"),
        CheckConstraint("length(content_hash) = 64", name="content_hash_is_sha256"),
        CheckConstraint("length(target) > 0", name="target_not_empty"),
        CheckConstraint("length(origin) > 0", name="origin_not_empty"),
        CheckConstraint("length(withdrawn) > 0", name="withdrawn_not_empty"),
        CheckConstraint("(withdrawn IS NULL) = (withdrawn_at IS NULL)", name="withdrawn_at_iff_withdrawn"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    problem_id: Mapped[int] = mapped_column(ForeignKey("problem.id"))
    device_id: Mapped[int] = mapped_column(ForeignKey("device.id"))
    target: Mapped[str]
    config: Mapped[JsonObject]
    config_hash: Mapped[str]
    compile_key: Mapped[str]
    content_hash: Mapped[str]
    manifest: Mapped[JsonObject]
    toolchain: Mapped[JsonObject]
    origin: Mapped[str | None]
    withdrawn: Mapped[str | None]
    withdrawn_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)

    problem: Mapped[Problem] = relationship(lazy="raise")
    device: Mapped[Device] = relationship(lazy="raise")
    artifacts: Mapped[list["Artifact"]] = relationship(lazy="raise", order_by="Artifact.id")


class Artifact(Base):
    """A file of a kernel, such as "xetile.mlir" or "kernel.spv"; its bytes are stored elsewhere under `sha256`.

    A native binary has the `chip` and the `driver` that it is for; other files have neither.
    """

    __tablename__ = "artifact"
    __table_args__ = (
        UniqueConstraint("kernel_id", "name"),
        CheckConstraint("length(name) > 0", name="name_not_empty"),
        CheckConstraint("length(sha256) = 64", name="sha256_is_sha256"),
        CheckConstraint("size >= 0", name="size_not_negative"),
        CheckConstraint("(chip IS NULL) = (driver IS NULL)", name="driver_iff_chip"),
        CheckConstraint("length(chip) > 0 AND length(driver) > 0", name="binary_not_of_nothing"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    kernel_id: Mapped[UUID] = mapped_column(ForeignKey("kernel.id"))
    name: Mapped[str]
    sha256: Mapped[str] = mapped_column(index=True)
    size: Mapped[int] = mapped_column(BigInteger)
    media_type: Mapped[str]
    chip: Mapped[str | None]
    driver: Mapped[str | None] = mapped_column(index=True)
