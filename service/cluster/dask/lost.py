"""What a task raises when nothing can be known of it any more."""


class SchedulerLost(Exception):
    """The scheduler does not answer, has forgotten what it was asked, or the machine of a task is gone."""
