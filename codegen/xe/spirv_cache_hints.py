"""Cache hints in SPIR-V by groups of decorations.

A pointer may have a hint for each cache level, says `SPV_INTEL_cache_controls`. But the validator rejects a second
decoration of one kind on an id, as long as both are applied directly; and Intel's compiler only looks at the hints of
the pointer that an access has, so that it would miss those of a pointer before it. So each hint becomes a group of one
decoration, which is applied to all pointers that have it. Source: SPIR-V specification, 3.52.3, OpGroupDecorate.
"""

from collections.abc import Sequence

from hal.spirv.words import HEADER_BYTES, Instruction, bound, header, packed

_DECORATE, _DECORATION_GROUP, _GROUP_DECORATE = 71, 73, 74
_LOAD_CONTROL, _STORE_CONTROL = 6442, 6443


def group_cache_hints(spirv: bytes, instructions: Sequence[Instruction]) -> bytes:
    """Return a module, of these instructions, whose cache hints are applied by groups; one without is unchanged."""
    pointers: dict[tuple[int, ...], list[int]] = {}
    kept: list[bytes] = []
    begin = at = HEADER_BYTES
    for opcode, operands in instructions:
        end = at + 4 * (1 + len(operands))
        if opcode == _DECORATE and operands[1] in (_LOAD_CONTROL, _STORE_CONTROL):
            pointers.setdefault(operands[1:], []).append(operands[0])
            kept.append(spirv[begin:at])
            begin = end
        at = end
    if not pointers:
        return spirv
    first = bound(spirv)
    groups: list[Instruction] = []
    for group, (hint, decorated) in enumerate(pointers.items(), start=first):
        groups += [(_DECORATE, (group, *hint)), (_DECORATION_GROUP, (group,)), (_GROUP_DECORATE, (group, *decorated))]
    before, *behind = (*kept, spirv[begin:])
    return header(spirv, first + len(pointers)) + before + packed(groups) + b"".join(behind)
