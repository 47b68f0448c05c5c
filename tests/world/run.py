"""Run worlds and print the story of each seed that breaks an invariant: python -m tests.world.run 0 10000."""

import sys
import time

import pytest

from tests.world.story import story
from tests.world.world import run_seed, simulated


def main(first: int, last: int) -> int:
    """Run the seeds from `first` to before `last`; return how many broke an invariant."""
    broken_seeds, began_s, faults, commits, trials = list[int](), time.perf_counter(), 0, 0, 0
    patch = pytest.MonkeyPatch()
    with simulated(patch):
        for seed in range(first, last):
            world, broken = run_seed(seed)
            faults += len(world.faults.done)
            commits += world.invariants.checks
            trials += len(world.invariants.before.trials)
            if broken is not None:
                broken_seeds.append(seed)
                print(story(seed), flush=True)
            if seed % 100 == 99:
                print(f"... seed {seed}, {time.perf_counter() - began_s:.0f} s, broken: {broken_seeds}", flush=True)
    patch.undo()
    seconds = time.perf_counter() - began_s
    print(f"seeds {first} to {last - 1}: {seconds:.0f} s, {faults} faults, {commits} commits checked, {trials} trials")
    print(f"{len(broken_seeds)} broke an invariant: {broken_seeds}")
    return len(broken_seeds)


if __name__ == "__main__":
    sys.exit(min(main(int(sys.argv[1]), int(sys.argv[2])), 1))
