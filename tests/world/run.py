"""Run worlds and print the story of each seed that fails: python -m tests.world.run 0 10000 --processes 16."""

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pytest

from tests.world.story import story
from tests.world.world import run_seed, simulated

_PORTION = 25


@dataclass
class Done:
    """Summary of a range of seeds: counts, and the stories of those that broke an invariant."""

    seeds: int = 0
    faults: int = 0
    commits: int = 0
    trials: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    stories: dict[int, str] = field(default_factory=dict)

    def add(self, other: "Done") -> None:
        """Add another range."""
        for name in ("seeds", "faults", "commits", "trials"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for kind, count in other.kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + count
        self.stories |= other.stories


def run_seeds(seeds: Iterable[int]) -> Done:
    """Run these seeds in this process."""
    done, patch = Done(), pytest.MonkeyPatch()
    with simulated(patch):
        for seed in seeds:
            world, broken = run_seed(seed)
            kinds: dict[str, int] = {}
            for fault in world.faults.done:
                kinds[fault.kind.name] = kinds.get(fault.kind.name, 0) + 1
            done.add(
                Done(1, len(world.faults.done), world.invariants.checks, len(world.invariants.before.trials), kinds)
            )
            if broken is not None:
                done.stories[seed] = story(seed)
    patch.undo()
    return done


def _portions(seeds: range, processes: int) -> Iterator[Done]:
    portions = [seeds[first : first + _PORTION] for first in range(0, len(seeds), _PORTION)]
    if processes == 1:
        yield from map(run_seeds, portions)
        return
    with multiprocessing.get_context("spawn").Pool(processes, maxtasksperchild=8) as pool:
        yield from pool.imap_unordered(run_seeds, portions)


def main(seeds: range, processes: int) -> int:
    """Run seeds; return how many broke an invariant."""
    began_s, total = time.perf_counter(), Done()
    for done in _portions(seeds, processes):
        total.add(done)
        for text in done.stories.values():
            print(text, flush=True)
        seconds = time.perf_counter() - began_s
        print(f"... {total.seeds} of {len(seeds)}, {seconds:.0f} s, broken: {sorted(total.stories)}", flush=True)
    print(
        f"seeds {seeds.start} to {seeds.stop - 1}: {time.perf_counter() - began_s:.0f} s, {total.faults} faults,"
        f" {total.commits} commits checked, {total.trials} trials"
    )
    print("; ".join(f"{kind} {count}" for kind, count in sorted(total.kinds.items())))
    print(f"{len(total.stories)} broke an invariant: {sorted(total.stories)}")
    return len(total.stories)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.world.run", description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int, help="the first that is not run")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    sys.exit(min(main(range(given.first, given.last), given.processes), 1))
