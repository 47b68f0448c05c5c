"""Command line of a kit: chooses the device, measures, and writes the results."""

import argparse
import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from codegen import CodegenError
from codegen.artifact.files import write_atomically
from hal import DeviceSpec, HalError, list_devices, open_device
from tuner.errors import DeviceUnusable, NothingExecuted, TunerError
from tuner.exchange.jsonl import Exchange, write_lines
from tuner.exchange.records import DeviceRecord, ProblemRecord, Record
from tuner.kit.contents import kernels_of, read_kit
from tuner.kit.executing import ExecutingDevice
from tuner.kit.matching import Found, choose, found_devices, nothing_found
from tuner.kit.measuring import KitJob
from tuner.session.bounds import check_name
from tuner.session.trial import Trial

_DONE, _FAILED, _REFUSED, _INTERRUPTED = 0, 1, 2, 130
_LONGEST_S = 86_400


def main(arguments: Sequence[str] | None = None, kit: Path | None = None) -> int:
    """Run the kit that this program was started from; return the exit status."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does: what was finished is written
    options = _options(arguments)
    try:
        return _run(options, read_kit(kit or Path(sys.argv[0])))
    except (TunerError, CodegenError, HalError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return _REFUSED
    except KeyboardInterrupt:
        return _INTERRUPTED


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kit", description="Verify and measure the kernels of this kit.")
    parser.add_argument("--list", action="store_true", help="list the devices of this machine and end")
    parser.add_argument("--device", metavar="N", help="number or name of the device (default: the kit's)")
    parser.add_argument("--output", metavar="FILE", type=Path, default=Path("found.jsonl"), help="file to write")
    parser.add_argument("--seconds", metavar="S", type=_seconds, default=600.0, help="time limit of a problem (600)")
    parser.add_argument("--origin", type=_origin, default=socket.gethostname(), help="name of the origin (this host)")
    return parser.parse_args(arguments)


def _seconds(text: str) -> float:
    try:
        if 1 <= (value := float(text)) <= _LONGEST_S:
            return value
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"expected 1 to {_LONGEST_S} seconds, got {text!r}")


def _origin(text: str) -> str:
    try:
        check_name(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _run(options: argparse.Namespace, kit: Exchange) -> int:
    wanted = next(iter(kit.devices.values())).record
    _say(
        f"{_counted(len(kit.kernels), 'kernel')} of {_counted(len(kit.problems), 'problem')} for {wanted.name} "
        f"({wanted.id}), "
        f"from {kit.header.origin}, {kit.header.written_at[:10]}"
    )
    listed = list_devices()
    found = found_devices(wanted, listed)
    if options.list:
        for line in map(_line, found) if found else [nothing_found(wanted)]:
            _say(line)
        return _DONE
    device = choose(wanted, found, options.device)
    _check_writable(options.output)
    _say(f"measuring on {device.spec.name}, driver {device.spec.driver}")
    jobs: list[KitJob] = []
    with closing(ExecutingDevice(open_device(device))) as opened:
        status = _measure(kit, opened, options.seconds, jobs)
    return max(status, _write(options, kit, device.spec, jobs))


def _check_writable(output: Path) -> None:
    """Check before a measurement, which may take hours, that its results can be written.

    Raises:
        OSError: the file exists, or its folder does not or cannot be written.
    """
    if output.exists():
        raise OSError(f"{output} exists: name another file with --output, or move it away")
    folder = output.absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise OSError(f"expected a folder that can be written for {output}, got {folder}: name another with --output")


def _line(found: Found) -> str:
    return f"{found.number}. {found.name}: {found.why or 'is measured by default'}"


def _measure(kit: Exchange, device: ExecutingDevice, seconds: float, jobs: list[KitJob]) -> int:
    """Measure each problem, and add its job to `jobs`.

    Raises:
        NothingExecuted: the driver runs no kernels.
    """
    status = _DONE
    for key, line in kit.problems.items():
        job = KitJob(line.record, kernels_of(kit, key), seconds)
        jobs.append(job)
        _say(f"{job.problem}")
        try:
            job.run(device, partial(_tell, of=len(job.kernels)))
        except KeyboardInterrupt:
            _say("interrupted")
            return _INTERRUPTED
        except DeviceUnusable as error:
            _say(f"stopped: {error}")
            return _FAILED
        except NothingExecuted:
            raise
        except (TunerError, CodegenError) as error:
            _say(f"  left out: {error}")
            status = _FAILED
        if job.error is not None:
            _say(f"  {job.error}")
            status = _FAILED
    return status


def _tell(trial: Trial, of: int) -> None:
    outcome, name = trial.outcome, "default" if trial.number == 0 else ""
    assert outcome is not None  # it ended
    place = f"  {trial.number + 1:3} of {of}  {name:7}"
    if (m := outcome.measurement) is None:
        _say(f"{place}  {outcome.status.value}: {outcome.reason}")
        return
    clock = "" if m.clock_mhz is None else f", {m.clock_mhz:.0f} MHz"
    verified = f"{outcome.proof.checked} of {outcome.proof.total} tiles verified"
    _say(f"{place} {m.median_us:11.2f} us ({m.p10_us:.2f} to {m.p90_us:.2f}, {m.samples} samples{clock}), {verified}")


def _write(options: argparse.Namespace, kit: Exchange, spec: DeviceSpec, jobs: Sequence[KitJob]) -> int:
    done = [job for job in jobs if job.done]
    if not done:
        _say("nothing was finished, and nothing is written")
        return _FAILED
    records: list[Record] = [
        replace(kit.header, origin=options.origin, written_at=datetime.now(UTC).isoformat()),
        DeviceRecord(spec),
    ]
    for job in done:
        records += [ProblemRecord(job.problem.key, job.problem), *job.records(spec)]
    write_atomically(options.output, "".join(write_lines(records)).encode())
    trials = sum(len(job.done) for job in done)
    _say(f"{_counted(trials, 'result')} written to {options.output}: send it back, `xetune import` reads it there")
    return _DONE


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _say(text: str) -> None:
    print(text, flush=True)
