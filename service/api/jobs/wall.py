"""Wall time of a job by phase, in a sentence."""

from service.api.jobs.schemas import WallTimeOut


def wall_sentence(wall: WallTimeOut) -> str:
    """Describe the shares of the total, largest first, and the phases that overlap them."""
    parts = {
        "measuring": wall.measure_s,
        "verifying": wall.verify_s,
        "waiting for kernels": wall.wait_s,
        "comparing finalists": wall.compare_s,
        "proposing": wall.propose_s,
    }
    parts["generating inputs, starting the device and storing"] = max(wall.total_s - sum(parts.values()), 0.0)
    largest = sorted(parts.items(), key=lambda part: part[1], reverse=True)
    shares = ", ".join(f"{name} {_share(seconds, wall)}" for name, seconds in largest if _counts(seconds, wall))
    said = f"{wall.total_s:.1f} s: {shares}; concurrently, compiling {_share(wall.compile_s, wall)}"
    times = f"{wall.device_restarts} times" if wall.device_restarts > 1 else "once"
    return f"{said}; the device's process restarted {times}" if wall.device_restarts else said


def _counts(seconds: float, wall: WallTimeOut) -> bool:
    return seconds > 1e-3 * wall.total_s


def _share(seconds: float, wall: WallTimeOut) -> str:
    return f"{seconds / wall.total_s:.0%}".replace("%", " %") if wall.total_s else "0 %"
