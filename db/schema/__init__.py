"""The tables. Each file holds those that change together.

Clocks of hosts differ and may step back, so no constraint orders two times of a row.
"""

from db.schema.api_key import (
    KEY_SCOPES,
    ApiKey,
)
from db.schema.audit import (
    AUDIT_OUTCOMES,
    AuditEvent,
)
from db.schema.change import (
    KEYS,
    Change,
    ResultChange,
)
from db.schema.coordinator import (
    Coordinator,
    ReachedDevice,
)
from db.schema.effort import JobEffort
from db.schema.exchange import (
    Candidate,
    JobImport,
    KernelImport,
)
from db.schema.idempotency import IdempotentAnswer
from db.schema.job import (
    ACTIVE_STATUSES,
    JOB_STATUSES,
    Job,
)
from db.schema.job_origin import JobOrigin
from db.schema.job_stop import JobStop
from db.schema.job_trace import JobTrace
from db.schema.kernel import (
    Artifact,
    Kernel,
)
from db.schema.presence import (
    ROLES,
    Presence,
)
from db.schema.quarantine import DeviceQuarantine
from db.schema.recording import (
    RECORDED_STATUSES,
    RECORDING_FORMATS,
    ImportedDonor,
    RecordedDonor,
    RecordedTrial,
    Recording,
)
from db.schema.retry import JobRetry
from db.schema.reuse import (
    Donor,
    JobStart,
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
from db.schema.search import (
    SEARCH_METHODS,
    JobSearch,
)
from db.schema.shape_set import (
    SHAPE_SET_STATUSES,
    ShapeSet,
    ShapeSetCell,
    ShapeSetKernel,
    ShapeSetMember,
    ShapeSetRun,
)
from db.schema.tally import (
    Tallied,
    Tally,
)
from db.schema.target import (
    DEVICE_KINDS,
    Device,
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
    "SEARCH_METHODS",
    "SHAPE_SET_STATUSES",
    "TRIAL_STATUSES",
    "ApiKey",
    "Artifact",
    "AuditEvent",
    "Candidate",
    "Change",
    "Coordinator",
    "Device",
    "DeviceQuarantine",
    "Donor",
    "IdempotentAnswer",
    "ImportedDonor",
    "Job",
    "JobEffort",
    "JobImport",
    "JobOrigin",
    "JobRetry",
    "JobSearch",
    "JobStart",
    "JobStop",
    "JobTrace",
    "Kernel",
    "KernelImport",
    "Measurement",
    "Prediction",
    "PredictionError",
    "Presence",
    "Problem",
    "ReachedDevice",
    "RecordedDonor",
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
    "ShapeSetRun",
    "Tallied",
    "Tally",
    "Trial",
]
