"""Conversion of problems and configurations to JSON, and back."""

from typing import cast

from codegen import GemmProblem, InvalidConfig, InvalidProblem, KernelConfig
from codegen.config.kernel_config import decode_config
from codegen.serialization import (
    Malformed,
    canonical_text,
    decode,
    to_json,
)
from db.values import JsonObject


def problem_to_json(problem: GemmProblem) -> JsonObject:
    """Return the canonical JSON of a problem; its hash is the problem's key."""
    return cast(JsonObject, to_json(problem))


def problem_from_json(definition: JsonObject) -> GemmProblem:
    """Return the problem of that JSON.

    Raises:
        InvalidProblem: names the field at fault.
    """
    try:
        return decode(GemmProblem, definition)
    except Malformed as error:
        raise InvalidProblem(error.field, error.message) from error


def problem_line(definition: JsonObject) -> str:
    """Format a stored problem in one line; the stored text if this version cannot read it."""
    try:
        return str(problem_from_json(definition))
    except InvalidProblem:
        return canonical_text(definition)


def config_line(config: JsonObject) -> str:
    """Format a stored configuration in one line; the stored text if this version cannot read it."""
    try:
        return str(config_from_json(config))
    except InvalidConfig:
        return canonical_text(config)


def config_to_json(config: KernelConfig) -> JsonObject:
    """Return the canonical JSON of a configuration; its hash is the configuration's key."""
    return cast(JsonObject, to_json(config))


def config_from_json(config: JsonObject) -> KernelConfig:
    """Return the configuration of that JSON: one for a CPU if its strategy has an `isa`.

    Raises:
        InvalidConfig: names the field at fault.
    """
    try:
        return decode_config(config)
    except Malformed as error:
        raise InvalidConfig(error.field, error.message) from error
