"""The newest kernels of a device are found without sorting all of them."""

from collections.abc import Sequence

from alembic import op

revision: str = "0029"
down_revision: str | None = "0028"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Create the index."""
    op.create_index(op.f("ix_kernel_device_id_id"), "kernel", ["device_id", "id"])


def downgrade() -> None:
    """Drop it."""
    op.drop_index(op.f("ix_kernel_device_id_id"), "kernel")
