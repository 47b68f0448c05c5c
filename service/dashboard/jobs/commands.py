"""A job as a command and as a request, to reproduce it."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codegen import GemmProblem, InvalidProblem
from codegen.problem.epilogue_text import print_epilogue
from codegen.serialization import to_json
from db.schema import Job
from service.row_mapping import problem_from_json

_PLAIN = ("m", "n", "k")
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


def commands(job: Job, base: str, keyed: bool) -> Commands | None:
    """Return commands to reproduce a job at the service at `base`; None if this version cannot read its
    problem.

    `keyed` states whether the service needs a key.
    """
    try:
        problem = problem_from_json(job.problem.definition)
    except InvalidProblem:
        return None
    budget: dict[str, object] = {"trials": job.budget_trials, "seconds": job.budget_seconds}
    body: dict[str, object] = {"problem": _stated(problem), "device": job.device.slug, "budget": budget}
    words = ["xetune", "tune", *(str(getattr(problem, name)) for name in _PLAIN), *_problem_words(problem)]
    words += ["--device", job.device.slug, "--trials", str(job.budget_trials), "--seconds", f"{job.budget_seconds:g}"]
    if job.seed:
        body["seed"] = job.seed
        words += ["--seed", str(job.seed)]
    body["search"] = job.search
    words += ["--search", job.search]
    if job.objective in ("time-memory", "time-energy"):
        body["objective"] = job.objective
        words += ["--objective", job.objective]
    for name, value in (("no_gain", job.budget_no_gain), ("roofline", job.budget_roofline)):
        if value is not None:
            budget[name] = value
            words += [f"--{name.replace('_', '-')}", f"{value:g}"]
    if not job.reuse:
        body["reuse"] = False
        words.append("--again")
    if not job.warm_start:
        body["warm_start"] = False
        words.append("--cold")
    sent = json.dumps(body)
    curl = f"{curl_post(f'{base}v1/jobs', keyed)} \\\n  -d {shlex.quote(sent)}"
    return Commands(shlex.join(words), curl, sent)


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
    whole, plain = _values(problem), _values(_tight(problem))
    said = {name: value for name, value in whole.items() if value != plain[name]}
    return {**{name: whole[name] for name in (*_PLAIN, "dtype_a", "dtype_b")}, **_chosen(problem, whole), **said}


def _chosen(problem: GemmProblem, whole: Mapping[str, object]) -> dict[str, object]:
    # What the plain problem was given too, where it is not the usual.
    usual = _values(GemmProblem(problem.m, problem.n, problem.k, dtype_a=problem.dtype_a, dtype_b=problem.dtype_b))
    names = ("batch", "dtype_c", "dtype_acc", "transpose_a", "transpose_b")
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
    )


def _values(problem: GemmProblem) -> dict[str, object]:
    values = to_json(problem)
    assert isinstance(values, dict)
    return dict(values)
