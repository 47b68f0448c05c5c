"""LLVM IR that calls the steps of a launch in a loop, so that no other code runs between two clock readings."""

from collections.abc import Sequence

from hal.device import LaunchSpec, LaunchStep, Scalar

PREPARE, LAUNCH = "hal_prepare", "hal_launch"
"""Functions `i64 (ptr pool, ptr rows, i64 sets, i64 first, i64 count)`: call the steps that run once, or the
others, `count` times over rotating sets of buffers, starting with number `first`. `failed_step` decodes the
result.
"""

_LOOP = """\
define i64 @{name}(ptr %pool, ptr %rows, i64 %sets, i64 %first, i64 %count) {{
entry:
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %again ]
  %at = add i64 %first, %i
  %set = urem i64 %at, %sets
  %start = mul i64 %set, {row_bytes}
  %row = getelementptr i8, ptr %rows, i64 %start
{calls}
  br label %again
again:
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret i64 0
}}
"""
_CALL = """\
{loads}
  %status{step} = call i32 @"{kernel}"(ptr %pool{arguments})
  %failed{step} = icmp ne i32 %status{step}, 0
  br i1 %failed{step}, label %fail{step}, label %go{step}
fail{step}:
  %wide{step} = zext i32 %status{step} to i64
  %result{step} = or i64 %wide{step}, {number}
  ret i64 %result{step}
go{step}:"""
_LOAD = """\
  %p{place} = getelementptr i8, ptr %row, i64 {offset}
  %v{place} = load {type}, ptr %p{place}, align 8"""


def call_loops(launch: LaunchSpec) -> str:
    """Return both functions for a launch. A row holds the parameters of all steps in order, 8 bytes each."""
    declared = {
        step.kernel: f'declare i32 @"{step.kernel}"({", ".join(("ptr", *map(_type, step.parameters)))})'
        for step in launch.steps
    }
    row_bytes = 8 * sum(len(step.parameters) for step in launch.steps)
    loops = [
        _LOOP.format(name=name, row_bytes=row_bytes, calls="\n".join(_calls(launch.steps, once)))
        for name, once in ((PREPARE, True), (LAUNCH, False))
    ]
    return "\n".join([*declared.values(), *loops])


def failed_step(launch: LaunchSpec, result: int) -> tuple[LaunchStep, int] | None:
    """Return the failed step and its status from the result of a call loop; None if no step failed."""
    return (launch.steps[(result >> 32) - 1], result & 0xFFFFFFFF) if result else None


def _calls(steps: Sequence[LaunchStep], once: bool) -> list[str]:
    calls: list[str] = []
    place = 0
    for number, step in enumerate(steps):
        places = range(place, place + len(step.parameters))
        place = places.stop
        if step.once is not once:
            continue
        types = [_type(parameter) for parameter in step.parameters]
        loads = [_LOAD.format(place=p, offset=8 * p, type=t) for p, t in zip(places, types, strict=True)]
        arguments = "".join(f", {t} %v{p}" for p, t in zip(places, types, strict=True))
        filled = _CALL.format(
            loads="\n".join(loads), step=number, kernel=step.kernel, arguments=arguments, number=(number + 1) << 32
        )
        calls.append(filled)
    return calls


def _type(parameter: int | Scalar) -> str:
    return "i64" if isinstance(parameter, Scalar) else "ptr"
