"""Features that jobs of a device do without."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

import db.schema.target  # pyright: ignore[reportUnusedImport]  # noqa: F401 (the table of a foreign key)
from db.schema.base import Base
from db.values import utc_now


class DeviceRestriction(Base):
    """A feature that jobs of a device do without, under the device's driver and one version of this program.

    `kernel_check` is the check of `xetune doctor` whose kernel failed, `reason` how; `name` is the restriction with
    which it worked, or that refuses its types.
    """

    __tablename__ = "device_restriction"
    __table_args__ = (
        UniqueConstraint("device_id", "version", "name"),
        CheckConstraint("length(version) > 0", name="version_not_empty"),
        CheckConstraint("length(name) > 0", name="name_not_empty"),
        CheckConstraint("length(kernel_check) > 0", name="kernel_check_not_empty"),
        CheckConstraint("length(reason) > 0", name="reason_not_empty"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    device_id: Mapped[int] = mapped_column(ForeignKey("device.id"))
    version: Mapped[str]
    name: Mapped[str]
    kernel_check: Mapped[str]
    reason: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
