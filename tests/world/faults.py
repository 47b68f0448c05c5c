"""The faults of a plan while a world runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.world.plan import TIMED, Fault, Kind
from tests.world.virtual import Killed, Process, Scheduler

if TYPE_CHECKING:
    from tests.world.virtual import Host


@dataclass
class Faults:
    """Which faults have begun, which wait for a fitting call, and which are over. No fault begins after `heal`."""

    scheduler: Scheduler
    hosts: Sequence[Host]
    waiting: list[Fault]
    armed: list[Fault] = field(default_factory=list)
    done: list[Fault] = field(default_factory=list)
    gone_until_s: float = 0.0
    slow_until_s: float = 0.0
    broken_launches: int = 0
    restarts: list[tuple[float, Process]] = field(default_factory=list)

    @property
    def database_gone(self) -> bool:
        """Return whether the database does not answer."""
        return self.gone_until_s > self.scheduler.now_s

    @property
    def database_delay_s(self) -> float:
        """Return how long each statement takes."""
        return 2.0 if self.slow_until_s > self.scheduler.now_s else 0.0

    def begin(self) -> None:
        """Begin what the plan has for this step."""
        while self.waiting and self.waiting[0].step <= self.scheduler.step:
            fault = self.waiting.pop(0)
            if fault.kind in TIMED:
                self.done.append(fault)
                self._begin(fault)
            else:
                self.armed.append(fault)

    def take(self, kind: Kind) -> Fault | None:
        """Return an armed fault of this kind, which happens now; None if there is none."""
        for fault in self.armed:
            if fault.kind is kind:
                self.armed.remove(fault)
                self.done.append(fault)
                self.scheduler.tell(f"FAULT {fault}")
                return fault
        return None

    def kill(self, process: Process, why: str, seconds: float = 20.0) -> None:
        """Kill the process of the current task here, or another one; it starts again after `seconds`."""
        was_alive = process.alive
        self.scheduler.kill(process, why)
        if was_alive:
            self.restarts.append((self.scheduler.now_s + seconds, process))
        if self.scheduler.current is not None and self.scheduler.process is process:
            raise Killed

    def restart(self) -> None:
        """Start the processes whose time has come."""
        for at_s, process in [*self.restarts]:
            if at_s <= self.scheduler.now_s:
                self.restarts.remove((at_s, process))
                self.scheduler.start(process.host, process.role, process.main)

    def heal(self) -> None:
        """End all faults."""
        self.scheduler.tell("all faults end")
        self.waiting, self.armed, self.broken_launches = [], [], 0
        self.gone_until_s = self.slow_until_s = 0.0
        for host in self.hosts:
            host.cut_until_s = host.disk_full_until_s = 0.0
        self.restarts = [(self.scheduler.now_s, process) for _, process in self.restarts]

    def _begin(self, fault: Fault) -> None:
        self.scheduler.tell(f"FAULT {fault}")
        until_s = self.scheduler.now_s + fault.seconds
        living = [process for process in self.scheduler.processes if process.alive]
        host = self.hosts[fault.which % len(self.hosts)]
        match fault.kind:
            case Kind.KILL if living:
                self.kill(living[fault.which % len(living)], f"at {fault.kind.name}", fault.seconds)
            case Kind.STALL if living:
                living[fault.which % len(living)].stalled_until_s = until_s
            case Kind.GONE:
                self.gone_until_s = until_s
            case Kind.SLOW:
                self.slow_until_s = until_s
            case Kind.CUT:
                host.cut_until_s = until_s
            case Kind.JUMP:
                host.skew_s += fault.seconds
            case Kind.DISK_FULL:
                host.disk_full_until_s = until_s
            case _:
                pass
