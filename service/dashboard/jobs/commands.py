"""A job as a command and as a request, to reproduce it."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from codegen import GemmProblem, InvalidProblem
from codegen.problem.epilogue_text import print_epilogue
from codegen.serialization import to_json
from db.schema import Job
from service.row_mapping import options_from_row, options_to_columns, problem_from_json
from tuner.session.budget import Budget
from tuner.session.job_spec import JobOptions

_PLAIN = ("m", "n", "k")
_ALWAYS = ("trials", "seconds", "search")
_TURNED_OFF = {"reuse": "--again", "warm_start": "--cold"}  # flags of options that are on by default
_FLAGS = {
    "dtype_a": "--dtype-a",
    "dtype_b": "--dtype-b",
    "dtype_c": "--dtype-c",
    "dtype_acc": "--dtype-acc",
    "batch": "--batch",
    "lda": "--lda",
    "ldb": "--ldb",
    "ldc": "--ldc",
    "batch_stride_a": "--batch-stride-a",
    "batch_stride_b": "--batch-stride-b",
    "batch_stride_c": "--batch-stride-c",
    "alignment": "--alignment",
    "experts": "--experts",
}


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
    body = {"problem": _stated(problem), "device": slug, **options}
    words = ["xetune", "tune", *(str(getattr(problem, name)) for name in _PLAIN), *_problem_words(problem)]
    words += ["--device", slug, *_option_words(options)]
    sent = json.dumps(body)
    curl = f"{curl_post(f'{base}v1/jobs', keyed)} \\\n  -d {shlex.quote(sent)}"
    return Commands(shlex.join(words), curl, sent)


def _changed(options: JobOptions, *, again: bool, times: int) -> JobOptions:
    budget = replace(options.budget, trials=times * options.budget.trials, seconds=times * options.budget.seconds)
    return replace(options, budget=budget, reuse=options.reuse and not again)


def _stated_options(options: JobOptions) -> dict[str, object]:
    """Return the options of a job that differ from the defaults, and those whose default depends on the client."""
    given, usual = _json(options), _json(JobOptions(budget=Budget(1, 1.0)))
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
    sizes = (word for name in _PLAIN for word in (f"--{name}", str(getattr(problem, name))))
    words = ["xetune", "compile", *sizes, *_problem_words(problem), "--device", job.device.slug]
    return Again(json.dumps(config, indent=1), shlex.join([*words, "--config", "config.json", "-o", "again"]))


def curl_post(address: str, keyed: bool) -> str:
    """Return the curl command that posts JSON to a URL, without its body; the key is read from the environment."""
    key = ' \\\n  -H "Authorization: Bearer $XETUNE_API_KEY"' if keyed else ""
    return f"curl -X POST {address} -H 'Content-Type: application/json'{key}"


def _stated(problem: GemmProblem) -> dict[str, object]:
    """Return the fields of a problem that differ from the defaults."""
    whole, plain = _json(problem), _json(_tight(problem))
    said = {name: value for name, value in whole.items() if value != plain[name]}
    return {**{name: whole[name] for name in (*_PLAIN, "dtype_a", "dtype_b")}, **_chosen(problem, whole), **said}


def _chosen(problem: GemmProblem, whole: Mapping[str, object]) -> dict[str, object]:
    # What the plain problem was given too, where it is not the usual.
    usual = _json(GemmProblem(problem.m, problem.n, problem.k, dtype_a=problem.dtype_a, dtype_b=problem.dtype_b))
    names = ("batch", "dtype_c", "dtype_acc", "transpose_a", "transpose_b", "gate", "quantization", "experts")
    return {name: whole[name] for name in names if whole[name] != usual[name]}


def _problem_words(problem: GemmProblem) -> Iterator[str]:
    said = _stated(problem)
    for name, flag in _FLAGS.items():
        if name in said and not (name in ("dtype_a", "dtype_b") and said[name] == "f16"):
            yield from (flag, str(said[name]))
    if problem.transpose_a or problem.transpose_b:
        yield from ("--layout", "".join("nt"[flag] for flag in (problem.transpose_a, problem.transpose_b)))
    if problem.dynamic:
        yield "--dynamic"
    if problem.deterministic:
        yield "--deterministic"
    if problem.gate is not None:
        yield from ("--gate", str(problem.gate))
    if problem.quantization is not None:
        yield from ("--quantization", str(problem.quantization))
    if problem.epilogue:
        yield from ("--epilogue", print_epilogue(problem.epilogue))


def _tight(problem: GemmProblem) -> GemmProblem:
    return GemmProblem(
        problem.m,
        problem.n,
        problem.k,
        batch=problem.batch,
        dtype_a=problem.dtype_a,
        dtype_b=problem.dtype_b,
        dtype_c=problem.dtype_c,
        dtype_acc=problem.dtype_acc,
        transpose_a=problem.transpose_a,
        transpose_b=problem.transpose_b,
        gate=problem.gate,
        quantization=problem.quantization,
        experts=problem.experts,
    )


def _json(value: object) -> dict[str, object]:
    values = to_json(value)
    assert isinstance(values, dict)
    return dict(values)
