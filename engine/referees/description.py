"""A case as plain JSON, for the referees' process: names of ops, positions of arguments, values. Never code."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..graph import LEAF, TABLE, Node, ancestors
from .case import CannotJudge, Case

_PLAIN = (str, int, float, bool, type(None))


def described(case: Case) -> str:
    """The text of a case.

    Raises:
        CannotJudge: where an op has a parameter that is no plain data, or is not in the table.
    """
    nodes = ancestors([*case.outputs, *case.wrt.values()])
    place = {node: position for position, node in enumerate(nodes)}
    rows = []
    for node in nodes:
        if node.op is not LEAF and TABLE.get(node.op.name) is not node.op:
            raise CannotJudge(f"{node.op.name} is not in the table")
        row: dict[str, Any] = {"op": node.op.name, "shape": node.shape, "dtype": node.dtype.name}
        if node.op is LEAF:
            row["value"] = packed_array(node.value)
        else:
            row["args"] = [place[arg] for arg in node.args]
            row["attrs"] = {name: _packed(value) for name, value in node.attrs.items()}
        rows.append(row)
    return json.dumps(
        {
            "nodes": rows,
            "outputs": [place[output] for output in case.outputs],
            "cotangents": [packed_array(cotangent) for cotangent in case.cotangents],
            "wrt": {name: place[node] for name, node in case.wrt.items()},
            "gradients": {name: packed_array(value) for name, value in case.gradients.items() if value is not None},
        }
    )


def rebuilt(text: str) -> Case:
    """The case of a text."""
    data = json.loads(text)
    nodes: list[Node] = []
    for row in data["nodes"]:
        shape, dtype = tuple(row["shape"]), np.dtype(row["dtype"])
        if row["op"] == LEAF.name:
            nodes.append(Node(LEAF, (), {}, shape, dtype, False, None, unpacked_array(row["value"])))
        else:
            attrs = {name: _unpacked(value) for name, value in row["attrs"].items()}
            args = tuple(nodes[position] for position in row["args"])
            nodes.append(Node(TABLE[row["op"]], args, attrs, shape, dtype, False))
    return Case(
        [nodes[position] for position in data["outputs"]],
        [unpacked_array(cotangent) for cotangent in data["cotangents"]],
        {name: nodes[position] for name, position in data["wrt"].items()},
        {name: unpacked_array(value) for name, value in data["gradients"].items()},
    )


def packed_array(value: Any) -> Any:
    """An array as plain data."""
    array = np.asarray(value)
    if array.dtype.kind == "c":
        parts = [array.real.ravel().tolist(), array.imag.ravel().tolist()]
        return {"dtype": array.dtype.name, "shape": array.shape, "parts": parts}
    return {"dtype": array.dtype.name, "shape": array.shape, "data": array.ravel().tolist()}


def unpacked_array(packed: Any) -> Any:
    """The array of plain data."""
    dtype = np.dtype(packed["dtype"])
    if "parts" in packed:
        real, imaginary = packed["parts"]
        array = np.array(real, dtype) + 1j * np.array(imaginary, dtype)
    else:
        array = np.array(packed["data"], dtype)
    return array.reshape(packed["shape"])[()]


def _packed(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, (tuple, list)):
        return {"tuple": [_packed(entry) for entry in value]}
    if isinstance(value, slice):
        return {"slice": [_packed(value.start), _packed(value.stop), _packed(value.step)]}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, np.dtype):
        return {"dtype": value.name}
    if value is Ellipsis:
        return {"ellipsis": True}
    raise CannotJudge(f"a parameter of type {type(value).__name__} cannot be described")


def _unpacked(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "tuple":
        return tuple(_unpacked(entry) for entry in content)
    if kind == "slice":
        return slice(*[_unpacked(entry) for entry in content])
    if kind == "complex":
        return complex(*content)
    return np.dtype(content) if kind == "dtype" else Ellipsis
