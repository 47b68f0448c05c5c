"""Host code: what there is for a kernel, that it runs, and that nothing of a file that was imported comes into it."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from itertools import cycle
from pathlib import Path
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from codegen import CpuArtifact, DType, Extent, GemmProblem, MatmulConfig, SplitK, XeConfig, XeStrategy
from codegen.problem.epilogue_text import parse_epilogue
from codegen.xe.rules.sizes import ceil_div
from codegen.xe.workspace import (
    scratch,
    scratch_formulas,
)
from db.queries import devices, problems
from db.queries.results import kernels
from db.schema.kernel import Artifact, Kernel
from db.schema.target import Device, Problem
from hal import resolve_device
from service.api.hostcode.formulas import (
    UnknownFormula,
    assumption,
    expression,
)
from service.api.hostcode.languages import Language
from service.api.hostcode.program import program_of
from service.api.hostcode.rendering import (
    languages_of,
    render,
)
from service.api.kernels.service import read_kernel
from service.cli.access.connection import same
from service.cli.access.opening import Access
from service.cli.app import app as command_line
from service.cli.kernels.kernel_lists import copy_files
from service.errors import Conflict, Unavailable
from service.gemm_json import config_to_json, problem_to_json
from service.http.context import Context
from tests.service.api.hostcode.host_code import KERNEL_ID, compiled, kernel_row, run_as_told, write_program
from tests.tuner.fakes import cpu_artifact_of, cpu_spec
from tuner.space.cpu.heuristic import default_cpu_config
from xetune_client import models

HERE = Path(__file__).parent
SIZES = frozenset({"m", "n", "k", "lda"})
SPLIT = GemmProblem(192, 160, 512, dynamic=True, epilogue=parse_epilogue("bias:column, gelu, reduce:row"))
CONFIG = XeConfig(
    MatmulConfig(Extent(3, 3, 2), Extent(64, 64, 32), Extent(32, 16, 16)),
    XeStrategy((2, 2), split_k=SplitK.PARTIAL_SUMS),
)


def manifest() -> dict[str, Any]:
    """kernel.json of a split of K in two, as a GPU's is."""
    operands = [*SPLIT.operands, *scratch(SPLIT, CONFIG)]
    pointers = [{"argument": place} for place in range(7)]
    numbers = [{"scalar": name, "value": 1} for name in ("m", "n", "k", "lda", "ldb", "ldc")]
    step = {"parameters": [*pointers, *numbers], "global_size": [96, 6, 2], "local_size": [32, 2, 1]}
    formula = ["32 * ceil(n / 64)", "2 * ceil(m / 64)", "2"]
    return {
        "arguments": [
            {"name": o.name, "role": getattr(o, "role", "scratch"), "dtype": str(o.dtype), "bytes": 4096}
            for o in operands
        ],
        "steps": [
            {"kernel": "gemm", "global_size_formula": formula, **step},
            {"kernel": "finish", "global_size_formula": ["min(3, ceil(n / 64)) * 64", "1", "1"], **step},
        ],
        "driver_needs": {"spirv": "1.4", "opencl_extensions": ["cl_intel_subgroup_2d_block_io", "cl_khr_fp16"]},
        "assumes": {"gemm": ["row pitch in bytes (2 * lda): at least 64, a multiple of 16"]},
        "subgroup_size": 16,
        "build_options": {"opencl": "-cl-intel-256-GRF-per-thread", "level_zero": "-ze-opt-large-register-file"},
    }


def row(changed: dict[str, Any] | None = None) -> Kernel:
    """A kernel of a GPU, never stored."""
    files = {"kernel.spv": "a" * 64}
    return Kernel(
        id=KERNEL_ID,
        problem=Problem(definition=problem_to_json(SPLIT)),
        device=Device(slug="b580", kind="gpu", emulates=None),
        config=config_to_json(CONFIG),
        manifest=manifest() if changed is None else changed,
        content_hash="a" * 64,
        artifacts=[Artifact(name=name, sha256=digest) for name, digest in files.items()],
    )


def stored(context: Context) -> UUID:
    """The same in the database."""
    data = b"spirv"
    with context.database.write() as session:
        device = devices.upsert(session, slug="b580", driver="", name="B580", kind="gpu", emulates=None, spec={})
        problem = problems.upsert(session, key=SPLIT.key, definition=problem_to_json(SPLIT))
        return kernels.upsert(
            session,
            problem_id=problem.id,
            device_id=device.id,
            target="b580",
            config=config_to_json(CONFIG),
            config_hash="b" * 64,
            compile_key="c" * 64,
            content_hash="a" * 64,
            manifest=manifest(),
            toolchain={},
            files=[kernels.ArtifactFile("kernel.spv", context.artifacts.put(data), 5, "application/octet-stream")],
        )


def test_every_program_of_a_kernel_is_served_and_named(client: TestClient, context: Context) -> None:
    kernel_id = stored(context)
    listed = client.get(f"/v1/kernels/{kernel_id}/host-code").json()["host_code"]
    assert [each["language"] for each in listed] == ["pyopencl", "dpctl", "sycl", "level-zero"]
    for each in listed:
        answer = client.get(each["href"])
        assert (answer.status_code, each["needs"]) == (200, "kernel.spv")
        assert answer.headers["content-disposition"] == f'attachment; filename="{each["file"]}"'
        assert answer.headers["content-type"].startswith("text/x-")
        assert str(kernel_id) in answer.text
        assert "partials" in answer.text
        assert "finish" in answer.text
    refused = client.get(f"/v1/kernels/{kernel_id}/host-code/ctypes")
    assert (refused.status_code, refused.json()["rule"]) == (409, "host-code-language")
    assert "pyopencl, dpctl, sycl, level-zero" in refused.json()["detail"]
    assert client.get(f"/v1/kernels/{uuid4()}/host-code/sycl").status_code == 404
    assert client.get(f"/v1/kernels/{kernel_id}/host-code/fortran").status_code == 422


def test_the_command_line_prints_and_writes_them(
    context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel_id = str(stored(context))
    monkeypatch.setenv("XETUNE_DATA_DIR", str(context.settings.data_dir))
    monkeypatch.setenv("XETUNE_DATABASE_URL", context.settings.database_url)
    printed = CliRunner().invoke(command_line, ["kernels", "host-code", kernel_id, "pyopencl"])
    assert printed.exit_code == 0, printed.output
    compile(printed.output, "run_pyopencl.py", "exec")
    folder = tmp_path / "out"
    written = CliRunner().invoke(command_line, ["kernels", "host-code", kernel_id, "pyopencl", "-o", str(folder)])
    assert written.exit_code == 0, written.output
    assert (folder / "run_pyopencl.py").read_text() == printed.output
    assert f"next: cd {folder} && python run_pyopencl.py\n" in written.output
    assert (folder / "kernel.spv").read_bytes() == b"spirv"
    listed = CliRunner().invoke(command_line, ["kernels", "list", "--all", "--json"])
    assert json.loads(listed.output)["kernels"][0]["id"] == kernel_id


def test_a_service_names_no_file_outside_the_folder(context: Context, tmp_path: Path) -> None:
    kernel_id = stored(context)
    with context.database.read() as session:
        kernel = read_kernel(session, kernel_id)
    for name in ("../evil", "/evil", "..", ".bashrc", "a/b"):
        strange = kernel.artifacts[0].model_copy(update={"name": name})
        told = kernel.model_copy(update={"artifacts": [*kernel.artifacts, strange]})
        with pytest.raises(Unavailable, match="not a plain file name; nothing was written"):
            copy_files(cast(Access, None), same(models.KernelOut, told), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("language", [Language.PYOPENCL, Language.DPCTL])
def test_programs_in_python_are_python(language: Language) -> None:
    compile(render(program_of(row()), language), language.file_name, "exec")


@pytest.mark.slow
def test_a_program_for_level_zero_is_cpp(tmp_path: Path) -> None:
    path = write_program(row(), Language.LEVEL_ZERO, tmp_path)
    include = tmp_path / "include"
    include.mkdir()
    (include / "level_zero").symlink_to(HERE / "level_zero")
    flags = ("-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", str(include))
    done = subprocess.run(["g++", *flags, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.opencl
@pytest.mark.slow
def test_a_program_in_python_runs_a_kernel_and_refuses_another_file(tmp_path: Path) -> None:
    problem = GemmProblem(24, 48, 64, epilogue=parse_epilogue("alpha=0.5, bias:column, relu, reduce:row"))
    config = XeConfig(MatmulConfig(Extent(2, 2, 1), Extent(16, 32, 32), Extent(16, 16, 16)), XeStrategy((1, 1)))
    kernel = compiled(problem, config, resolve_device("opencl-cpu-as-b580").spec, tmp_path)
    program = write_program(kernel, Language.PYOPENCL, tmp_path)
    done = run_as_told(program)
    assert done.returncode == 0, done.stderr
    assert "C: 1152 numbers are right" in done.stdout
    assert "reduce: 24 numbers are right" in done.stdout
    assert "DPAS emulated: no time of a GPU" in done.stdout
    other = run_as_told(program, "kernel.spv")
    assert (other.returncode, other.stdout) == (1, "")
    assert "its SHA-256 should be" in other.stderr


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("steps", 0, "kernel"), 'gemm"); import os; os.system("id'),
        (("steps", 0, "kernel"), "gemm\n"),
        (("arguments", 0, "name"), "__import__('os')"),
        (("arguments", 5, "name"), '*/ system("id"); /*'),
        (("arguments", 5, "bytes"), "1); system('id'"),
        (("steps", 0, "global_size_formula", 0), "__import__('os').system('id')"),
        (("steps", 0, "global_size_formula", 0), "n ** 99"),
        (("steps", 0, "parameters", 7, "scalar"), "argv"),
        (("steps", 0, "parameters", 0, "argument"), 40),
        (("build_options", "opencl"), '"); system("id'),
        (("arguments",), []),
        (("driver_needs", "opencl_extensions", 0), '"}; import os; os.system("id")'),
    ],
)
def test_nothing_that_is_not_checked_comes_into_a_program(place: tuple[str | int, ...], value: object) -> None:
    changed: Any = manifest()
    inner = changed
    for part in place[:-1]:
        inner = inner[part]
    inner[place[-1]] = value
    with pytest.raises(Conflict, match="no host code can be written") as refused:
        render(program_of(row(changed)), Language.PYOPENCL)
    assert refused.value.rule == "host-code-manifest"


MARK = "planted_by_a_file"
PLANTED = (
    f"\n{MARK}()",
    f"\nimport {MARK} #",
    f'"); {MARK}("',
    f"""' + {MARK}() + '""",
    f'"""\n{MARK}()\n"""',
    f"*/ {MARK}(); /*",
    f"\\\n{MARK}()",
    f"{{{{ {MARK} }}}}",
    f"{{% include '{MARK}' %}}",
    f"$({MARK})",
    f"\u2028{MARK}()",
    f"\r{MARK}()",
    f"??/\n{MARK}()",
)


CPU_GEMM = GemmProblem(24, 40, 56, dtype_a=DType.F32, dtype_b=DType.F32, epilogue=parse_epilogue("bias:column, relu"))


@cache
def cpu_artifact() -> CpuArtifact:
    """A kernel of a CPU, which packs B by a step of its own."""
    return cpu_artifact_of(CPU_GEMM, default_cpu_config(CPU_GEMM, cpu_spec()))


@cache
def cpu_manifest() -> dict[str, Any]:
    """kernel.json of it, with functions named as those of this program."""
    made = kernel_row(cpu_artifact(), cpu_spec()).manifest
    for step in cast(list[dict[str, Any]], made["steps"]):
        step["kernel"] = f"xetune_{step['kernel']}"
    return made


def cpu_row(changed: dict[str, Any] | None = None) -> Kernel:
    """A kernel of a CPU, never stored."""
    return Kernel(
        id=KERNEL_ID,
        problem=Problem(definition=problem_to_json(CPU_GEMM)),
        device=Device(slug=cpu_spec().id, kind="cpu", emulates=None),
        config=config_to_json(cpu_artifact().config),
        manifest=cpu_manifest() if changed is None else changed,
        content_hash="a" * 64,
        artifacts=[Artifact(name="kernel.o", sha256="a" * 64)],
    )


def planted_manifests(manifest: Callable[[], dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The manifest with a text planted in one place: as a value, behind a value, behind it and 400 spaces, as a key;
    and inside of it behind 200 spaces, which some parsers cut. The texts are taken in turns; assumptions have all.
    """
    texts = cycle(PLANTED)
    for path in leaves(manifest()):
        places = ("", "all", " " * 400, " ", "lda", "64", "ceil(n")
        for at in places * (len(PLANTED) if "assumes" in path else 1):
            changed = manifest()
            holder: Any = changed
            for part in path[:-1]:
                holder = holder[part]
            old, text = str(holder[path[-1]]), next(texts)
            planted = {"": old + text, "all": text, " " * 400: old + at + text}
            holder[path[-1]] = planted.get(at, old.replace(at, at + " " * 200 + text))
            if holder[path[-1]] != old:
                yield changed
    for text in PLANTED:
        yield manifest() | {"assumes": {text: ["row pitch in bytes (2 * lda): at least 64"]}, text: text}


def leaves(inner: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to all values that are neither lists nor objects."""
    if isinstance(inner, dict | list):
        items: Any = inner.items() if isinstance(inner, dict) else enumerate(inner)
        for key, value in items:
            yield from leaves(value, (*path, key))
    else:
        yield path


@pytest.mark.slow
def test_a_program_for_ctypes_says_what_is_missing(tmp_path: Path) -> None:
    kernel = cpu_row()
    kernel.artifacts = [Artifact(name="kernel.o", sha256=sha256(b"object").hexdigest())]
    program = write_program(kernel, Language.CTYPES, tmp_path)
    assert "kernel.o was not found: run the program in the folder of kernel.o" in run_as_told(program).stderr
    (tmp_path / "kernel.o").write_bytes(b"object")
    without_gcc = [sys.executable, program.name]
    done = subprocess.run(
        without_gcc, cwd=tmp_path, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "gcc links kernel.o into a shared library and was not found: install gcc\n"


@pytest.mark.parametrize(
    ("of", "languages"),
    [
        (row, {Language.PYOPENCL, Language.DPCTL, Language.SYCL, Language.LEVEL_ZERO}),
        (cpu_row, {Language.CTYPES, Language.CPP}),
    ],
    ids=["gpu", "cpu"],
)
def test_no_text_of_any_field_comes_into_a_program_of_any_language(
    of: Callable[[dict[str, Any] | None], Kernel], languages: set[Language]
) -> None:
    text = json.dumps(of(None).manifest)
    rendered, seen = Counter[Language](), set[str]()
    for changed in planted_manifests(lambda: json.loads(text)):
        try:
            program = program_of(of(changed))
        except Conflict:
            continue
        rendered.update(languages_of(program))
        if repr(program) in seen:  # of a field that no program has
            continue
        seen.add(repr(program))
        for language in languages_of(program):
            assert MARK not in render(program, language), changed
    assert set(rendered) == languages
    assert min(rendered.values()) > 25


def test_a_program_names_the_extensions_that_its_device_lacks() -> None:
    text = render(program_of(row(manifest())), Language.PYOPENCL)
    assert 'lacks = {"cl_intel_subgroup_2d_block_io", "cl_khr_fp16"} - set(devices[0].extensions.split())' in text
    assert "lacks" not in render(program_of(row(manifest() | {"driver_needs": {}})), Language.PYOPENCL)


@pytest.mark.parametrize(
    ("language", "condition"),
    [(Language.LEVEL_ZERO, "(blocks.flags & 3) == 3"), (Language.SYCL, "has_2d_block_io_support>()")],
)
def test_a_program_in_cpp_asks_for_an_extension_that_is_needed(language: Language, condition: str) -> None:
    text = render(program_of(row(manifest())), language)
    (line,) = (line for line in text.splitlines() if condition in line)
    assert line.strip().endswith('missing += " cl_intel_subgroup_2d_block_io";')
    assert "missing" not in render(program_of(row(manifest() | {"driver_needs": {}})), language)


@pytest.mark.parametrize("language", [Language.PYOPENCL, Language.DPCTL, Language.SYCL, Language.LEVEL_ZERO])
def test_a_program_names_what_a_launch_writes_where_it_allocates(language: Language) -> None:
    lines = render(program_of(row(manifest())), language).splitlines()
    (at,) = (at for at, line in enumerate(lines) if "must not overlap another argument" in line)
    assert "(C, reduce, partials, sums2)" in lines[at]
    assert "on_device = {" in lines[at + 1] or "void *> memory;" in lines[at + 1]


def test_words_of_assumptions_that_are_not_rules_are_left_out() -> None:
    changed = manifest()
    changed["assumes"] = {"gemm": ['row pitch in bytes (os.system("id")): at least 64', "x", 'a"); b (m): at least 1']}
    assert program_of(row(changed)).assumptions == ()
    assert [rule.conditions for rule in program_of(row()).assumptions] == [("2 * lda >= 64", "(2 * lda) % 16 == 0")]


def test_a_kernel_without_its_binary_says_so() -> None:
    kernel = row()
    kernel.device = Device(slug="opencl-cpu-as-b580", kind="cpu", emulates="b580")
    with pytest.raises(Conflict, match=r"came without emulated\.spv"):
        program_of(kernel)


def test_level_zero_has_no_cpu_that_stands_in() -> None:
    kernel = row()
    kernel.device = Device(slug="opencl-cpu-as-b580", kind="cpu", emulates="b580")
    kernel.artifacts = [Artifact(name="emulated.spv", sha256="d" * 64)]
    program = program_of(kernel)
    assert languages_of(program) == [Language.PYOPENCL, Language.DPCTL, Language.SYCL]
    assert program.opencl_options == program.level_zero_options == ""


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("32 * ceil(n / 64)", "32 * ceil_div(n, 64)"),
        ("min(3, ceil(m / 64))", "least(3, ceil_div(m, 64))"),
        ("ceil(m / 8) * ceil(n / 16)", "ceil_div(m, 8) * ceil_div(n, 16)"),
        ("2 * lda - 2 * k", "2 * lda - 2 * k"),
    ],
)
def test_formulas_are_read_alike_by_both_languages(formula: str, text: str) -> None:
    assert expression(formula, SIZES) == text


@pytest.mark.parametrize(
    "formula",
    ["n / 2", "ceil(n)", "x + 1", "n; m", "ceil(n / m)", "2 ** n", "n.real", "min", "--n", "n" + " " * 200 + "\nm"],
)
def test_other_formulas_are_refused(formula: str) -> None:
    with pytest.raises(UnknownFormula):
        expression(formula, SIZES)


def test_what_a_kernel_computes_itself_is_no_condition() -> None:
    assert assumption("row pitch in bytes (computed by the kernel): at least 64", SIZES) is None
    assert assumption("base address (A.pointer): a multiple of 64", SIZES) is None


@pytest.mark.parametrize(("m", "n"), [(192, 160), (1, 1), (65, 17), (200, 1000)])
def test_bytes_of_scratch_follow_from_the_sizes(m: int, n: int) -> None:
    problem = GemmProblem(m, n, 512, epilogue=parse_epilogue("reduce:row, reduce:column"), batch=3)
    names = {"m": m, "n": n, "ceil_div": ceil_div}
    for buffer in scratch(problem, CONFIG):
        text = expression(scratch_formulas(problem, CONFIG)[buffer.name], SIZES)
        assert eval(text, names) == buffer.nbytes
