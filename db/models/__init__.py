"""The tables. Each file holds those that change together.

Clocks of hosts differ and may step back, so no constraint orders two times of a row.
"""

from db.models.api_key import KEY_SCOPES, ApiKey
from db.models.audit import AUDIT_OUTCOMES, AuditEvent
from db.models.change import KEYS, Change, ResultChange
from db.models.coordinator import Coordinator, ReachedDevice
from db.models.effort import JobEffort
from db.models.exchange import Candidate, JobImport, KernelImport
from db.models.idempotency import IdempotentAnswer
from db.models.job import ACTIVE_STATUSES, JOB_STATUSES, Job
from db.models.job_origin import JobOrigin
from db.models.job_stop import JobStop
from db.models.job_trace import JobTrace
from db.models.kernel import Artifact, Kernel
from db.models.maintenance import MaintenanceWindow
from db.models.presence import ROLES, Presence
from db.models.quarantine import DeviceQuarantine
from db.models.recording import (
    RECORDED_STATUSES,
    RECORDING_FORMATS,
    ImportedDonor,
    RecordedDonor,
    RecordedTrial,
    Recording,
)
from db.models.retry import JobRetry
from db.models.reuse import Donor, JobStart, ResultKey, Reuse
from db.models.schedule import (
    FIRE_OUTCOMES,
    MISSED_POLICIES,
    SCHEDULE_KINDS,
    Schedule,
    ScheduleFire,
    ScheduleFireJob,
)
from db.models.search import SEARCH_METHODS, JobSearch
from db.models.search_start import SearchStart
from db.models.shape_set import (
    SHAPE_SET_STATUSES,
    ShapeSet,
    ShapeSetCell,
    ShapeSetKernel,
    ShapeSetMember,
    ShapeSetRun,
)
from db.models.tally import Tallied, Tally
from db.models.target import DEVICE_KINDS, Device, Problem
from db.models.trial import LABELS, PROOF_KINDS, TRIAL_STATUSES, Measurement, Prediction, PredictionError, Trial

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
    "MaintenanceWindow",
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
    "SearchStart",
    "ShapeSet",
    "ShapeSetCell",
    "ShapeSetKernel",
    "ShapeSetMember",
    "ShapeSetRun",
    "Tallied",
    "Tally",
    "Trial",
]
