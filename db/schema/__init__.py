"""The tables. Each file holds tables that change together.

Clocks of hosts differ and may step back, so no constraint orders two times of a row. Unique indexes of some rows name
the condition of SQLite alone: that of PostgreSQL, whose name would import its dialect, is in the migrations.
"""

from db.schema.access import (
    AUDIT_OUTCOMES,
    KEY_SCOPES,
    ApiKey,
    AuditEvent,
    IdempotentAnswer,
)
from db.schema.change import (
    KEYS,
    Change,
    ResultChange,
    Tallied,
    Tally,
)
from db.schema.cluster import (
    ROLES,
    Coordinator,
    Presence,
    ReachedDevice,
)
from db.schema.job import (
    ACTIVE_STATUSES,
    JOB_STATUSES,
    Job,
)
from db.schema.kernel import (
    Artifact,
    Kernel,
)
from db.schema.record import Record
from db.schema.recording import (
    RECORDED_STATUSES,
    RECORDING_FORMATS,
    RecordedTrial,
    Recording,
)
from db.schema.reuse import (
    ResultKey,
    Reuse,
)
from db.schema.schedule import (
    FIRE_OUTCOMES,
    MISSED_POLICIES,
    SCHEDULE_KINDS,
    Schedule,
    ScheduleFire,
    ScheduleFireJob,
)
from db.schema.shape_set import (
    SHAPE_SET_STATUSES,
    ShapeSet,
    ShapeSetCell,
    ShapeSetKernel,
    ShapeSetMember,
)
from db.schema.target import (
    DEVICE_KINDS,
    Device,
    DeviceQuarantine,
    DeviceRestriction,
    Problem,
)
from db.schema.trial import (
    LABELS,
    PROOF_KINDS,
    TRIAL_STATUSES,
    Measurement,
    Prediction,
    PredictionError,
    Trial,
)

__all__ = [
    "ACTIVE_STATUSES",
    "AUDIT_OUTCOMES",
    "DEVICE_KINDS",
    "FIRE_OUTCOMES",
    "JOB_STATUSES",
    "KEYS",
    "KEY_SCOPES",
    "LABELS",
    "MISSED_POLICIES",
    "PROOF_KINDS",
    "RECORDED_STATUSES",
    "RECORDING_FORMATS",
    "ROLES",
    "SCHEDULE_KINDS",
    "SHAPE_SET_STATUSES",
    "TRIAL_STATUSES",
    "ApiKey",
    "Artifact",
    "AuditEvent",
    "Change",
    "Coordinator",
    "Device",
    "DeviceQuarantine",
    "DeviceRestriction",
    "IdempotentAnswer",
    "Job",
    "Kernel",
    "Measurement",
    "Prediction",
    "PredictionError",
    "Presence",
    "Problem",
    "ReachedDevice",
    "Record",
    "RecordedTrial",
    "Recording",
    "ResultChange",
    "ResultKey",
    "Reuse",
    "Schedule",
    "ScheduleFire",
    "ScheduleFireJob",
    "ShapeSet",
    "ShapeSetCell",
    "ShapeSetKernel",
    "ShapeSetMember",
    "Tallied",
    "Tally",
    "Trial",
]
