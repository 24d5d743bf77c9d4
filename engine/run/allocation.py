"""Registers to buffers: as few as fit, each for many results in turn."""

from __future__ import annotations

from collections.abc import Sequence

from .program import WRITTEN, Layout, Program, Register


def allocate(program: Program, registers: Sequence[Register]) -> None:
    """Give a buffer to each result of a function that takes one, and the same one to many in turn."""
    last: dict[int, int] = {}
    written = {call.output for call in program.calls if call.kind in WRITTEN}
    roots: dict[int, tuple[int, ...]] = {}  # what is written that a view may be of
    for index, call in enumerate(program.calls):
        held = [root for each in call.inputs for root in roots.get(each, (each,))]
        for root in held:
            last[root] = index
        if call.kind in ("view", "wide", "kernel"):
            roots[call.output] = tuple(dict.fromkeys(root for root in held if root in written))
    end = len(program.calls)
    for register in program.outputs:
        for root in roots.get(register, (register,)):
            last[root] = end
    outputs = set(program.outputs)
    root_of = _roots(program, registers, last, roots)
    free: dict[Layout, list[int]] = {}

    def release(dying: Sequence[int]) -> None:
        for register in dying:
            known = registers[register]
            free.setdefault((known.rows, known.shape, known.dtype), []).append(program.place_of[register])

    for index, call in enumerate(program.calls):
        # An argument that dies here gives its buffer to the result: the same places are read before they are written.
        held = [root for each in call.inputs for root in roots.get(each, (each,)) if last.get(root) == index]
        dying = [each for each in dict.fromkeys(held) if each in program.place_of and each not in root_of]
        early = [each for each in dying if each in call.inputs] if call.kind == "call" else []
        release(early)
        root = root_of.get(call.output, call.output)
        if call.kind in WRITTEN and root in outputs:
            if root != call.output:
                program.shared[call.output] = root
        elif call.kind in WRITTEN:
            if root not in program.place_of:
                layout = (call.rows, call.shape, call.dtype)
                spare = free.setdefault(layout, [])
                if not spare:
                    program.buffers.append(layout)
                    spare.append(len(program.buffers) - 1)
                program.place_of[root] = spare.pop()
            program.place_of[call.output] = program.place_of[root]
        release([each for each in dying if each not in early])


def _roots(
    program: Program, registers: Sequence[Register], last: dict[int, int], views: dict[int, tuple[int, ...]]
) -> dict[int, int]:
    """Registers that die where one element of each row is changed: it is changed in place."""
    made = {call.output: call for call in program.calls}
    seen = {root for held in views.values() for root in held}
    root_of: dict[int, int] = {}
    for index in range(len(program.calls) - 1, -1, -1):
        call = program.calls[index]
        if call.kind not in ("placed", "added"):
            continue
        rest = call.inputs[0]
        maker = made.get(rest)
        free = rest not in program.outputs and rest not in seen and rest not in call.inputs[1:]
        alike = registers[rest][:3] == registers[call.output][:3]
        if maker is not None and maker.kind in WRITTEN and last[rest] == index and free and alike:
            root_of[rest] = root_of.get(call.output, call.output)
    return root_of
