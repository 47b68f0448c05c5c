"""Error of a task whose outcome is unknown."""


class SchedulerLost(Exception):
    """The scheduler does not answer, has forgotten the task, or the machine of the task is gone."""
