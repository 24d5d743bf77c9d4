"""The forward graph in exact numbers: its formulas say of NaN what the kernels say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agrad.engine.errors import AgradError, Source
from agrad.engine.graph import TABLE, Node, Op, ancestors
from agrad.engine.language import build
from agrad.engine.referees.arithmetic import PreciseArithmetic
from agrad.engine.referees.case import CannotJudge
from agrad.engine.referees.forward import array_of, entry_of, evaluate_node
from agrad.engine.worker.budget import Budget

ROWS = [op for op in dict.fromkeys(TABLE.values()) if op.elementwise and op.formula is not None]


def nodes_of(op: Op) -> list[Node]:
    """The nodes of a row in its examples, over real numbers."""
    found = []
    for example in op.examples:
        try:
            inputs = {name: np.full(shape, 0.4) for name, shape in example.inputs.items()}
            output = build(Source(f"z = {example.form}"), inputs=inputs).names["z"]
        except AgradError:
            continue
        found += [node for node in ancestors([output]) if node.op is op and node.dtype.kind == "f"]
    return found


def plain(node: Node) -> Any:
    """A number in the domain of most ops, of a node's dtype."""
    return node.dtype.type(0.4 if node.dtype.kind == "f" else 1)


@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
def test_what_is_not_a_number_stays_so_where_the_kernel_says_so(op: Op) -> None:
    """A comparison with NaN is false: a formula that only compares would make a number of it."""
    m = PreciseArithmetic(50)
    for node in nodes_of(op):
        for place in (place for place, arg in enumerate(node.args) if arg.dtype.kind == "f"):
            values = [plain(arg) for arg in node.args]
            values[place] = node.args[place].dtype.type(np.nan)
            exact = [bool(v) if isinstance(v, np.bool_) else m.number(float(v)) for v in values]
            with np.errstate(all="ignore"):
                got = float(np.asarray(node.op.kernel(np, *values, **node.attrs)))  # type: ignore[misc]  # it has one
            said = float(entry_of(m, node, exact, Budget()))
            if (op.name, place) == ("copysign", 1):
                assert np.isnan(said)  # a bit of NaN is its sign, and no number's
            else:
                assert got == pytest.approx(said, nan_ok=True)


def test_a_division_by_zero_inside_of_an_op_is_no_value() -> None:
    """An inverse of a matrix that has none: nobody judges, and nothing breaks."""
    output = build(Source("z = torch.inverse(x)"), inputs={"x": np.zeros((2, 2))}).names["z"]
    m = PreciseArithmetic(50)
    zeros = array_of((2, 2), [m.number(0)] * 4)
    with pytest.raises(CannotJudge, match="divides by zero"):
        evaluate_node(m, output, [zeros], Budget())
