"""A simulated GPU whose clock rises while it is busy and sinks while it idles; its host takes time to enqueue."""

import math
from dataclasses import dataclass

SLOWEST = 0.4  # of the highest clock, after long idling
HOST_US = 30.0  # from one launch to the next


@dataclass(frozen=True, slots=True)
class Profile:
    """Nanoseconds of the device's clock."""

    start: int
    end: int


class Event:
    """A launch of the GPU; waiting for it moves the host's clock on."""

    def __init__(self, gpu: "RampingGpu", start_s: float, end_s: float) -> None:
        self._gpu, self._end_s = gpu, end_s
        self.profile = Profile(round(start_s * 1e9), round(end_s * 1e9))

    def wait(self) -> None:
        self._gpu.now_s = max(self._gpu.now_s, self._end_s)


class RampingGpu:
    """An in-order queue of launches that take `work_us` at the highest clock.

    `rise_s` and `sink_s` are the clock's time constants.
    """

    def __init__(self, work_us: float, rise_s: float = 0.02, sink_s: float = 0.01) -> None:
        self.work_us, self.rise_s, self.sink_s = work_us, rise_s, sink_s
        self.now_s = 100.0
        self.free_s = 0.0
        self.level = 0.0  # of the clock, between the slowest and the highest
        self.launches = 0

    def enqueue(self, _number: int = 0) -> tuple[Event, ...]:
        """Enqueue a launch."""
        self.now_s += HOST_US * 1e-6
        start_s = max(self.free_s, self.now_s)
        self.level *= math.exp(-(start_s - self.free_s) / self.sink_s)
        taken_s = self.work_us * 1e-6 / (SLOWEST + (1 - SLOWEST) * self.level)
        self.level = 1 - (1 - self.level) * math.exp(-taken_s / self.rise_s)
        self.free_s = start_s + taken_s
        self.launches += 1
        return (Event(self, start_s, self.free_s),)

    def launch_us(self, _number: int) -> float:
        """Enqueue a launch and wait for it."""
        (event,) = self.enqueue()
        event.wait()
        return (event.profile.end - event.profile.start) * 1e-3
