"""A problem as the options of a command, and as the fields of a request that are not the defaults."""

from collections.abc import Iterator, Mapping

from codegen import GemmProblem
from codegen.problem.epilogue_text import print_epilogue
from codegen.serialization import to_json

SIZES = ("m", "n", "k")
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


def stated(problem: GemmProblem) -> dict[str, object]:
    """Return the fields of a problem that differ from the defaults."""
    whole, plain = plain_json(problem), plain_json(_tight(problem))
    said = {name: value for name, value in whole.items() if value != plain[name]}
    return {**{name: whole[name] for name in (*SIZES, "dtype_a", "dtype_b")}, **_chosen(problem, whole), **said}


def _chosen(problem: GemmProblem, whole: Mapping[str, object]) -> dict[str, object]:
    # What the plain problem was given too, where it is not the usual.
    usual = plain_json(GemmProblem(problem.m, problem.n, problem.k, dtype_a=problem.dtype_a, dtype_b=problem.dtype_b))
    names = ("batch", "dtype_c", "dtype_acc", "transpose_a", "transpose_b", "gate", "quantization", "experts")
    return {name: whole[name] for name in names if whole[name] != usual[name]}


def problem_words(problem: GemmProblem) -> Iterator[str]:
    """Yield the options of a command that state a problem, without its sizes."""
    said = stated(problem)
    if said["dtype_a"] == said["dtype_b"]:
        del said["dtype_b"]
        yield from ("--dtype", str(said.pop("dtype_a"))) if said["dtype_a"] != "f16" else ()
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


def plain_json(value: object) -> dict[str, object]:
    """Return a value of several fields as JSON."""
    values = to_json(value)
    assert isinstance(values, dict)
    return dict(values)
