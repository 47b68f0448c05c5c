"""A job as a command and as a request, to reproduce it."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from codegen import InvalidProblem
from db.schema.job import Job
from service.gemm_json import problem_from_json
from service.row_mapping import options_from_row, options_to_columns
from service.text.problem_options import SIZES, plain_json, problem_words, stated
from tuner.session.budget import Budget
from tuner.session.job_spec import JobOptions

_ALWAYS = ("trials", "seconds", "search")
_TURNED_OFF = {"reuse": "--again", "warm_start": "--cold"}  # flags of options that are on by default


@dataclass(frozen=True, slots=True)
class Commands:
    """Commands to reproduce a job: in a terminal, with curl, and the request body for a button."""

    cli: str
    curl: str
    body: str


@dataclass(frozen=True, slots=True)
class Again:
    """A configuration as the text of a file, and the command that compiles it."""

    config: str
    command: str


def commands(
    job: Job, base: str, keyed: bool, *, again: bool = False, times: int = 1, device: str | None = None
) -> Commands | None:
    """Return commands to reproduce a job at the service at `base`; None if this version cannot read its
    problem.

    `keyed` states whether the service needs a key. With `again` nothing measured before is reused; the budget is
    `times` that of the job; `device` replaces its device.
    """
    try:
        problem = problem_from_json(job.problem.definition)
    except InvalidProblem:
        return None
    try:
        options = _stated_options(_changed(options_from_row(job), again=again, times=times))
    except ValueError:
        return None
    slug = job.device.slug if device is None else device
    body = {"problem": stated(problem), "device": slug, **options}
    words = ["xetune", "tune", *(str(getattr(problem, name)) for name in SIZES), *problem_words(problem)]
    words += ["--device", slug, *_option_words(options)]
    sent = json.dumps(body)
    curl = f"{curl_post(f'{base}v1/jobs', keyed)} \\\n  -d {shlex.quote(sent)}"
    return Commands(shlex.join(words), curl, sent)


def _changed(options: JobOptions, *, again: bool, times: int) -> JobOptions:
    budget = replace(options.budget, trials=times * options.budget.trials, seconds=times * options.budget.seconds)
    return replace(options, budget=budget, reuse=options.reuse and not again)


def _stated_options(options: JobOptions) -> dict[str, object]:
    """Return the options of a job that differ from the defaults, and those whose default depends on the client."""
    given, usual = plain_json(options), plain_json(JobOptions(budget=Budget(1, 1.0)))
    budget, usual_budget = given.pop("budget"), usual.pop("budget")
    assert isinstance(budget, dict)
    assert isinstance(usual_budget, dict)
    stated: dict[str, object] = {
        "budget": {name: v for name, v in budget.items() if name in _ALWAYS or v != usual_budget[name]}
    }
    return stated | {name: value for name, value in given.items() if name in _ALWAYS or value != usual[name]}


def _option_words(options: Mapping[str, object]) -> Iterator[str]:
    for name, value in options.items():
        if isinstance(value, dict):
            yield from _option_words(value)
        elif isinstance(value, bool):
            yield _TURNED_OFF.get(name, f"--{name.replace('_', '-')}")
        else:
            yield from (f"--{name.replace('_', '-')}", f"{value:g}" if isinstance(value, float) else str(value))


def option_pairs(job: Job) -> Iterator[tuple[str, str]]:
    """Yield the options of a job that are set, by name."""
    options = options_to_columns(options_from_row(job))
    for name, value in options.items():
        if value is not None:
            shown = (
                ("no", "yes")[value] if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else value
            )
            yield name.removeprefix("budget_").replace("_", " "), str(shown)


def again(job: Job, config: Mapping[str, object]) -> Again | None:
    """Return the command to compile a configuration for a job's problem and device; None if this version
    cannot read the problem.
    """
    try:
        problem = problem_from_json(job.problem.definition)
    except InvalidProblem:
        return None
    sizes = (word for name in SIZES for word in (f"--{name}", str(getattr(problem, name))))
    words = ["xetune", "compile", *sizes, *problem_words(problem), "--device", job.device.slug]
    return Again(json.dumps(config, indent=1), shlex.join([*words, "--config", "config.json", "-o", "again"]))


def curl_post(address: str, keyed: bool) -> str:
    """Return the curl command that posts JSON to a URL, without its body; the key is read from the environment."""
    key = ' \\\n  -H "Authorization: Bearer $XETUNE_API_KEY"' if keyed else ""
    return f"curl -X POST {address} -H 'Content-Type: application/json'{key}"
