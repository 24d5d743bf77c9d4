"""The graph: nodes, the rows of the table of ops that make them, and the one function that joins them.

No numbers are computed here. A `Node` is one value of the computation; an `Op` is one row of the table, which says
everything that agrad knows of an op. Gradients are nodes too, made by the rules out of the same ops.
"""

from .node import (
    BOOL,
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INT64,
    INTEGERS,
    LEAF,
    Node,
    Outputs,
    ancestors,
    apply,
    as_node,
    attrs_key,
    leaf,
    make,
    require_room,
)
from .op import POSITIVE, PROBABILITY, REAL, TABLE, UNIT, Attrs, DType, Example, Interval, Op, Shape, add_row

__all__ = [
    "BOOL",
    "COMPLEX64",
    "COMPLEX128",
    "FLOAT32",
    "FLOAT64",
    "INT64",
    "INTEGERS",
    "LEAF",
    "POSITIVE",
    "PROBABILITY",
    "REAL",
    "TABLE",
    "UNIT",
    "Attrs",
    "DType",
    "Example",
    "Interval",
    "Node",
    "Op",
    "Outputs",
    "Shape",
    "add_row",
    "ancestors",
    "apply",
    "as_node",
    "attrs_key",
    "leaf",
    "make",
    "require_room",
]
