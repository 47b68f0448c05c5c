"""Proven faults of the pinned MLIR's pipeline, by name: what a module runs into of them is lowered by ourselves.

docs/upstream_faults.md has the evidence. Each name is that of a module in tests/codegen/upstream_faults, whose test
shows the fault, and fails once it is mended.
"""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from codegen.xe.mlir import fault_rules as rules


@dataclass(frozen=True, slots=True)
class Fault:
    """One that a module runs into: its name, what goes wrong, and the operation that does."""

    name: str
    what: str
    operation: str


@dataclass(frozen=True, slots=True)
class FaultRule:
    """A fault, and the operations that run into it."""

    name: str
    what: str
    matches: Callable[[Operation], bool]


FAULTS = (
    FaultRule("dpas_integers", "dpas of integers is not lowered", rules.multiplies_integers),
    FaultRule("dpas_tf32", "dpas of 32-bit floats is not lowered", rules.multiplies_words),
    FaultRule("dpas_without_accumulator", "dpas without an accumulator ends MLIR", rules.starts_from_nothing),
    FaultRule("slm_rows", "rows of local memory get each other's elements", rules.takes_rows_of_local_memory),
    FaultRule("convert_layout", "values move to the wrong sub-groups", rules.moves_between_subgroups),
    FaultRule("row_reduction", "sums of parts of rows are not lowered", rules.reduces_rows_across_subgroups),
    FaultRule("computed_rows", "sums of rows that are used again are not lowered", rules.reduces_computed_rows),
    FaultRule("dealt_reduction", "largest numbers of dealt columns are of a part", rules.reduces_dealt_columns),
    FaultRule("scalar_reduction", "a reduction of all elements ends MLIR", rules.reduces_to_scalar),
    FaultRule("block_columns", "blocks of part of the lanes are not lowered", rules.takes_part_of_lanes),
    FaultRule("block_elements", "blocks of 8-bit and 64-bit elements are not lowered", rules.takes_odd_elements),
    FaultRule("block_start", "blocks begin where no message can", rules.takes_odd_columns),
    FaultRule("block_rows", "blocks of rows that no message takes are not cut", rules.takes_odd_rows),
    FaultRule("carried_block", "blocks that a loop carries in larger parts are mixed up", rules.carries_blocks),
    FaultRule("transposed_block", "rows of transposed blocks get each other's elements", rules.transposes_on_the_way),
    FaultRule("transposed_start", "transposed blocks come from where memory begins", rules.transposes_from_a_start),
    FaultRule("turned_value", "transposed values that are not only multiplied are mixed up", rules.turns_values),
    FaultRule("transposed_store", "transposed blocks that are stored end MLIR", rules.stores_transposed),
    FaultRule("line_block", "blocks of one dimension are not lowered", rules.takes_a_line),
    FaultRule("named_barrier", "named barriers are not lowered", rules.uses_named_barriers),
    FaultRule("atomic", "atomic updates are not in the dialect's descriptors", rules.updates_atomically),
    FaultRule("scattered_prefetch", "prefetches of scattered elements are not distributed", rules.prefetches_elements),
    FaultRule("scattered_chunk", "only the first elements of chunks move", rules.cuts_chunks),
    FaultRule("padding", "loads pad with 0 alone", rules.pads),
    FaultRule("turned_load", "loads that transpose do not", rules.transposes_loads),
    FaultRule("surface", "matrices that no message takes are not refused", rules.is_no_surface),
    FaultRule("math_function", "the function is not converted", rules.has_no_builtin),
    FaultRule("scalar_select", "a choice between whole vectors is not distributed", rules.selects_by_scalar),
    FaultRule("uneven_constant", "constants of different numbers are not lowered", rules.is_uneven_constant),
    FaultRule("vector_operation", "the operation is not distributed", rules.is_not_distributed),
    FaultRule("bitcast", "elements of another width end MLIR", rules.changes_widths),
    FaultRule("reshape", "parts of rows become runs of elements", rules.reshapes_rows),
    FaultRule("blocked_vector", "vectors of more than two dimensions end MLIR", rules.reshapes_blocks),
)


def upstream_faults(module: ModuleOp) -> tuple[Fault, ...]:
    """The faults that a module of work-group-level XeGPU runs into; none: MLIR's pipeline lowers it rightly."""
    return tuple(
        Fault(rule.name, rule.what, str(op).partition("\n")[0])
        for op in module.walk()
        for rule in FAULTS
        if rule.matches(op)
    )
