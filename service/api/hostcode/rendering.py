"""Rendering of programs from templates. Inputs are validated: only names, numbers and expressions are inserted."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from codegen import DType
from codegen.problem.experts import offsets
from service.api.hostcode.conditions import LEVEL_ZERO, SYCL, conditions
from service.api.hostcode.languages import Language
from service.api.hostcode.program import HostProgram
from service.api.hostcode.weights import weights_of
from service.errors import Conflict

# Tolerance of C relative to max(1, |C|): one rounding to its type and the f32 arithmetic of the epilogue.
_TOLERANCES = {DType.F32: 1e-4, DType.TF32: 1e-4, DType.F16: 2.0**-9, DType.BF16: 2.0**-6}
_TYPES = {
    "f16": "f16",
    "bf16": "bf16",
    "tf32": "float",
    "f32": "float",
    "s8": "std::int8_t",
    "u8": "std::uint8_t",
    "i32": "std::int32_t",
    **dict.fromkeys(("s4", "u4", "e2m1"), "std::uint32_t"),
    **dict.fromkeys(("e4m3", "e5m2", "e8m0"), "std::uint8_t"),
}
_CONDITIONS = {Language.LEVEL_ZERO: LEVEL_ZERO, Language.SYCL: SYCL}
_MOST_CHECKED, _MOST_SUMS = 4096, 8  # elements of C, and sums of rows or columns, that a program in C++ computes


def render(program: HostProgram, language: Language) -> str:
    """Render the program in a language.

    Raises:
        Conflict: the kernel does not support that API; the message lists those that it supports.
    """
    if language not in (offered := languages_of(program)):
        raise Conflict(
            f"kernel {program.kernel_id} is run with {', '.join(offered)}, not with {language}",
            rule="host-code-language",
        )
    gate = program.problem.gate
    has_steps = bool(program.epilogue) or gate is not None
    c = program.c.dtype
    # An integer may be rounded to either side of a half.
    tolerance = (1.0 if has_steps else 0) if c.is_integer else _TOLERANCES[c]
    is_python = language.file_name.endswith(".py")
    template = _environment().get_template(f"{language.value.replace('-', '_')}.{'py' if is_python else 'cpp'}.j2")
    text = template.render(
        p=program,
        gate=gate,
        per_expert=[o.name for o in program.operands[3:] if o.of_experts and o.fill not in ("codes", "scale")],
        offsets=offsets(program.problem.rows_of_experts),
        weights=weights_of(program.problem),
        file_name=language.file_name,
        language=language.value,
        integer=program.problem.dtype_a.is_integer,
        c_integer=c.is_integer,
        dtypes={operand.name: operand.dtype.value for operand in program.operands},
        tolerance=tolerance,
        types=_TYPES,
        most_checked=_MOST_CHECKED,
        most_sums=_MOST_SUMS,
        note=" (DPAS emulated: no time of a GPU)" if program.emulated else "",
        needed=conditions(program.extensions, _CONDITIONS.get(language, {})),
        reads_binary=language in (Language.SYCL, Language.LEVEL_ZERO),
    )
    return text.rstrip() + "\n"


def languages_of(program: HostProgram) -> list[Language]:
    """Return the languages that host code of a kernel is available in. Level Zero has no CPU device that
    emulates a GPU.
    """
    return [
        language
        for language in Language
        if language.backend is program.backend and not (program.emulated and language is Language.LEVEL_ZERO)
    ]


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("service.api.hostcode"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
