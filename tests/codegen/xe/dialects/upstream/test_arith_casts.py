"""Casts of vectors: they parse, print, and their verifiers say what they expect."""

import pytest
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects import (
    parse,
    text,
)


def module(name: str, source: str, result: str) -> str:
    """A module with one cast."""
    cast = f"      %y = arith.{name} %x : {source} to {result}"
    return f"""builtin.module {{
  gpu.module @m {{
    gpu.func @f(%x: {source}) {{
{cast}
      gpu.return
    }}
  }}
}}
"""


@pytest.mark.parametrize(
    ("name", "source", "result"),
    [
        ("index_cast", "vector<4x8xindex>", "vector<4x8xi64>"),
        ("index_cast", "i32", "index"),
        ("index_castui", "vector<4xi32>", "vector<4xindex>"),
        ("sitofp", "vector<4x8xi32>", "vector<4x8xf32>"),
        ("uitofp", "i8", "f16"),
        ("fptosi", "vector<8xf32>", "vector<8xi32>"),
        ("fptoui", "vector<8xbf16>", "vector<8xi8>"),
        ("extsi", "vector<4x8xi8>", "vector<4x8xi32>"),
        ("extui", "vector<4xi1>", "vector<4xi8>"),
        ("trunci", "vector<4x8xi32>", "vector<4x8xi8>"),
    ],
)
def test_casts_print_as_they_parse(name: str, source: str, result: str) -> None:
    parsed = parse(module(name, source, result))
    parsed.verify()
    assert text(parsed) == module(name, source, result)
    assert text(parse(text(parsed, generic=True))) == text(parsed)


@pytest.mark.parametrize(
    ("name", "source", "result", "message"),
    [
        (
            "index_cast",
            "vector<4xindex>",
            "vector<8xi64>",
            "arith.index_cast: expected input and result of one shape, got vector<4xindex> and vector<8xi64>",
        ),
        ("sitofp", "f32", "f32", "arith.sitofp: expected other elements to cast, got f32 and f32"),
        ("extui", "vector<4xi8>", "vector<4xi8>", "arith.extui: expected more bits in the result, got i8 and i8"),
        ("trunci", "i8", "i32", "arith.trunci: expected fewer bits in the result, got i8 and i32"),
    ],
)
def test_verifiers_say_what_they_expect(name: str, source: str, result: str, message: str) -> None:
    with pytest.raises(VerifyException, match=message):
        parse(module(name, source, result)).verify()


def test_remainders_of_floats() -> None:
    source = """builtin.module {
  gpu.module @m {
    gpu.func @f(%x: vector<4xf32>) {
      %y = arith.remf %x, %x : vector<4xf32>
      gpu.return
    }
  }
}
"""
    parsed = parse(source)
    parsed.verify()
    assert text(parsed) == source
