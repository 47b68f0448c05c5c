"""Table formats of shapes: CSV with a header, and a JSON list."""

import csv
import json
from collections.abc import Mapping
from itertools import islice
from typing import cast

from codegen import GemmProblem, InvalidProblem
from codegen.serialization import (
    Malformed,
    decode,
)
from tuner.errors import InvalidShapes
from tuner.exchange.documents import strict_int, strict_object
from tuner.shapes.fields import FIELDS, SIZES, Base, FieldInvalid, name_of, shape_of
from tuner.shapes.shape import MOST_SHAPES, Shape

_OTHER_MARKS = {";": "semicolons", "\t": "tabs", "|": "bars"}


def parse_csv(text: str, base: Base) -> list[Shape]:
    """Return the shapes of a table: a header of field names, then a row for each shape; empty cells mean the default.

    Raises:
        InvalidShapes: with line and column (of the table), what was expected and got.
    """
    lines = csv.reader(text.splitlines(), strict=True)
    try:
        rows = [(lines.line_num, cells) for cells in islice(lines, MOST_SHAPES + 2) if any(map(str.strip, cells))]
    except csv.Error as error:
        raise InvalidShapes(f"line {lines.line_num}", f"expected comma-separated values: {error}") from error
    if not rows:
        raise InvalidShapes("", f"expected a header such as {','.join(SIZES)}, then a row for each shape; got nothing")
    (line, header), *entries = rows
    names = [name.strip().lower().lstrip("\ufeff") for name in header]
    _check_header(names, line)
    _check_count(len(entries))
    return [_row(names, cells, line, base) for line, cells in entries]


def _check_header(names: list[str], line: int) -> None:
    for column, name in enumerate(names, start=1):
        where = f"line {line}, column {column}"
        if name not in FIELDS:
            other = next((mark for mark in _OTHER_MARKS if mark in name), None)
            apart = "" if other is None else f"; columns are separated by commas, not by {_OTHER_MARKS[other]}"
            raise InvalidShapes(where, f"expected one of {', '.join(FIELDS)}, got {name[:40]!r}{apart}")
        if name in names[: column - 1]:
            raise InvalidShapes(where, f"expected each column once, got {name!r} twice")
    if missing := [name for name in SIZES if name not in names]:
        raise InvalidShapes(f"line {line}", f"expected columns m, n and k, got none for {', '.join(missing)}")


def _row(names: list[str], cells: list[str], line: int, base: Base) -> Shape:
    if len(cells) != len(names):
        raise InvalidShapes(f"line {line}", f"expected {len(names)} values as in the header, got {len(cells)}")
    said = {name: cell.strip() for name, cell in zip(names, cells, strict=True) if cell.strip()}
    try:
        return shape_of(said, base)
    except FieldInvalid as error:
        column = f", column {names.index(error.field) + 1}" if error.field in names else ""
        raise InvalidShapes(f"line {line}{column}", str(error)) from error


def parse_json(text: str, base: Base) -> list[Shape]:
    """Return the shapes of a JSON list: objects with the same fields, or with a whole `problem`, `weight` and `name`.

    Raises:
        InvalidShapes: with the place, what was expected and got.
    """
    try:
        document: object = json.loads(text, object_pairs_hook=strict_object, parse_int=strict_int)
    except json.JSONDecodeError as error:
        raise InvalidShapes(f"line {error.lineno}, column {error.colno}", f"expected JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidShapes("", str(error)) from error
    if not isinstance(document, list):
        raise InvalidShapes("", f"expected a list of shapes, got {json.dumps(document)[:40]}")
    entries = cast("list[object]", document)
    _check_count(len(entries))
    return [_entry(entry, f"shape {number}", base) for number, entry in enumerate(entries, start=1)]


def _entry(entry: object, where: str, base: Base) -> Shape:
    if not isinstance(entry, dict):
        raise InvalidShapes(where, f"expected an object, got {json.dumps(entry)[:60]}")
    said = cast("Mapping[str, object]", entry)
    for name, value in said.items():
        if name != "problem" and (isinstance(value, bool) or not isinstance(value, str | int | float)):
            raise InvalidShapes(where, f"{name}: expected a number or text, got {json.dumps(value)[:60]}")
    try:
        if "problem" not in said:
            return shape_of({name: str(value) for name, value in said.items()}, base)
        return _whole_problem(said)
    except Malformed as error:
        place = f"problem.{error.field}" if error.field else "problem"
        raise InvalidShapes(where, f"{place}: {error.message}") from error
    except (FieldInvalid, InvalidProblem, ValueError) as error:
        raise InvalidShapes(where, str(error)) from error


def _whole_problem(said: Mapping[str, object]) -> Shape:
    if unknown := [name for name in said if name not in ("problem", "weight", "name")]:
        raise FieldInvalid(unknown[0], "expected only weight and name beside a whole problem")
    weight = float(str(said.get("weight", 1.0)))
    return Shape(decode(GemmProblem, said["problem"]), weight, name_of(said))


def _check_count(count: int) -> None:
    if count > MOST_SHAPES:
        raise InvalidShapes("", f"expected at most {MOST_SHAPES} shapes, got more")
