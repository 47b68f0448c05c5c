"""Default budget of a job: of requests, of the command line and of forms."""

TRIALS = 50
"""Maximum number of trials of a job."""
TRIALS_EACH = 25
"""The same for a shape of a set; its number of shapes times that is the budget of the set."""
SECONDS = 600.0
"""Maximum wall time of a job or a set, in seconds."""
