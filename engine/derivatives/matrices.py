"""What a text's outputs have beyond gradients, by name: Jacobians, the Hessian, derivatives of higher orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..errors import InputError, NoGradientError
from ..files.json_data import LARGEST_WRITTEN, json_value
from ..graph import Node, Shape
from ..run.device import current_way
from .curvature import Curvature, curvature, digest, whole_matrix
from .nodes import gradient, repeated
from .orders import derivatives, hessian, jacobian

if TYPE_CHECKING:
    from ..referees import Case

HIGHEST_ORDER: Final = 20
"""Each order multiplies the graph; beyond this one nobody has asked."""

Blocks = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for.

    Attributes:
        jacobian: the Jacobian of every output by every name.
        hessian: the second derivatives of the one output.
        order: the highest order of derivative of the one output by each name; 0 for none.
    """

    jacobian: bool = False
    hessian: bool = False
    order: int = 0

    def __bool__(self) -> bool:
        return self.jacobian or self.hessian or self.order > 0


@dataclass(frozen=True, slots=True)
class Matrices:
    """What was found.

    Attributes:
        outputs: the names that were differentiated.
        shapes: of them and of the names that were differentiated by.
        jacobian: for each output and each name an array of the output's shape followed by the name's.
        hessian: for each pair of names an array of both shapes.
        curvature: what the whole Hessian says; None without one.
        derivatives: for each name its derivatives of orders 1, 2 ...
        warnings: what a person should know of how the numbers were found.
        case: the gradient of weighted sums of all of them, for the referees.
    """

    outputs: list[str]
    shapes: dict[str, Shape]
    jacobian: Blocks
    hessian: Blocks
    curvature: Curvature | None
    derivatives: dict[str, list[Any]]
    warnings: list[str]
    case: Case

    @property
    def words(self) -> str:
        """What there is, in words."""
        parts = {"jacobian": self.jacobian, "hessian": self.hessian, "derivatives": self.derivatives}
        return ", ".join([name for name, part in parts.items() if part])

    def as_json(self, *, full: bool = False) -> dict[str, Any]:
        """As entries of the report's data, those that were asked for.

        Args:
            full: write arrays of any size in full.
        """
        entries: dict[str, Any] = {}
        if self.jacobian:
            entries["jacobian"] = _blocks_as_json(self.jacobian, full)
        if self.hessian:
            entries["hessian"] = _blocks_as_json(self.hessian, full)
        if self.curvature is not None:
            found = self.curvature
            entries["curvature"] = {
                "eigenvalues": None if found.eigenvalues is None else json_value(found.eigenvalues, full=full),
                "definiteness": found.definiteness,
                "condition": None if found.condition is None else json_value(found.condition),
            }
        if self.derivatives:
            entries["derivatives"] = {
                name: [json_value(value) for value in values] for name, values in self.derivatives.items()
            }
        return entries

    def arrays(self) -> dict[str, Any]:
        """All of them by names such as `jacobian/y/x`, to be saved."""
        found = {f"jacobian/{a}/{b}": block for a, row in self.jacobian.items() for b, block in row.items()}
        found |= {f"hessian/{a}/{b}": block for a, row in self.hessian.items() for b, block in row.items()}
        return found | {f"derivatives/{name}": np.stack(values) for name, values in self.derivatives.items()}


def _blocks_as_json(blocks: Blocks, full: bool) -> dict[str, Any]:
    return {
        first: {second: _block_as_json(block, full) for second, block in row.items()} for first, row in blocks.items()
    }


def _block_as_json(block: Any, full: bool) -> Any:
    data = json_value(block, full=full)
    if full or np.size(block) <= LARGEST_WRITTEN:
        return data
    found = digest(block)
    largest = [{"index": list(entry.place), "value": json_value(entry.value)} for entry in found.largest]
    return {**data, "nonzero": found.nonzero, "largest": largest}


def matrices(outputs: Mapping[str, Node], wrt: Mapping[str, Node], wanted: Wanted) -> Matrices:
    """The derivatives of outputs that are asked for.

    Args:
        outputs: the nodes to differentiate, by name.
        wrt: what to differentiate by, by name.
        wanted: what is asked for.

    Raises:
        InputError: where an output or a name has no such derivatives.
        NoGradientError: where an output requires no gradient, or an op on the path has no derivative.
        LimitError: where one would be too large.
    """
    for name, node in outputs.items():
        _require_gradient(name, node, wrt)
    parts = _Weighted(wrt)
    shapes = {name: node.shape for name, node in (dict(wrt) | dict(outputs)).items()}
    warnings: list[str] = []
    first: Blocks = {}
    second: Blocks = {}
    higher: dict[str, list[Any]] = {}
    if wanted.jacobian:
        for name, node in outputs.items():
            rows = jacobian(name, node, wrt)
            warnings += rows.warnings
            first[name] = {by: rows.found[leaf] for by, leaf in wrt.items()}
            parts.add(node, first[name])
    if wanted.hessian:
        name, output = _only(outputs, "--hessian")
        blocks = hessian(name, output, wrt)
        warnings += blocks.warnings
        second = {by: {other: blocks.found[leaf][node] for other, node in wrt.items()} for by, leaf in wrt.items()}
        for row, slope in zip(second.values(), gradient(output, list(wrt.values())), strict=True):
            parts.add(slope, row)
    if wanted.order:
        higher = _higher(*_only(outputs, "--order"), wrt, wanted.order, parts, warnings)
    found = curvature(whole_matrix(second, {name: wrt[name].shape for name in wrt})) if second else None
    return Matrices(list(outputs), shapes, first, second, found, higher, list(dict.fromkeys(warnings)), parts.case())


def _higher(
    output_name: str, output: Node, wrt: Mapping[str, Node], order: int, parts: _Weighted, warnings: list[str]
) -> dict[str, list[Any]]:
    if order > HIGHEST_ORDER:
        raise InputError(f"--order {order}: the highest order is {HIGHEST_ORDER}")
    for name, node in wrt.items():
        if node.size != 1:
            raise InputError(
                f"--order needs single numbers, and {name} has shape {list(node.shape)}",
                hint="name numbers with --wrt, or use --hessian",
            )
    found = {}
    for name, node in wrt.items():
        derived = derivatives(output_name, output, name, node, order)
        warnings += derived.warnings
        found[name] = derived.found
        chain = repeated(output, node, order - 1, others=list(wrt.values()))
        for below, value in zip([output, *chain], derived.found, strict=True):
            slopes = dict(zip(wrt, gradient(below, list(wrt.values())), strict=True))
            mixed = current_way().evaluate([slope for other, slope in slopes.items() if other != name])
            blocks = {other: value if other == name else mixed[slope] for other, slope in slopes.items()}
            parts.add(
                below, {other: np.reshape(each, (*below.shape, *wrt[other].shape)) for other, each in blocks.items()}
            )
    return found


class _Weighted:
    """A weighted sum of everything that was differentiated, and its gradient by the matrices found."""

    def __init__(self, wrt: Mapping[str, Node]) -> None:
        self.wrt = dict(wrt)
        self.outputs: list[Node] = []
        self.weights: list[Any] = []
        self.gradients: dict[str, Any] = {}
        self.random = np.random.default_rng(0)

    def add(self, output: Node, blocks: Mapping[str, Any]) -> None:
        """Take in an output and its derivative by each name."""
        if not output.requires_grad:
            return  # a constant, whose derivatives are the zeros that no referee need confirm
        weight = np.asarray(self.random.uniform(0.5, 1.5, output.shape), dtype=output.dtype)
        self.outputs.append(output)
        self.weights.append(weight[()])
        for name, block in blocks.items():
            with np.errstate(all="ignore"):
                part = np.tensordot(weight, block, axes=weight.ndim)[()]
                self.gradients[name] = self.gradients[name] + part if name in self.gradients else part

    def case(self) -> Case:
        """The case for the referees."""
        from ..referees import Case

        return Case(self.outputs, self.weights, self.wrt, self.gradients)


def _only(outputs: Mapping[str, Node], option: str) -> tuple[str, Node]:
    """The one output, of a single number, and its name.

    Raises:
        InputError: where it is not.
    """
    if len(outputs) != 1:
        raise InputError(f"{option} takes one output, not {len(outputs)}", hint="name one with --output")
    ((name, node),) = outputs.items()
    if node.size != 1 or node.dtype.kind != "f":
        raise InputError(
            f"{option} takes an output of a single real number: {name} has shape {list(node.shape)}, "
            f"dtype {node.dtype.name}",
            hint=f"write sum({name}) or choose an entry",
            spans=(node.span,) if node.span else (),
        )
    return name, node


def _require_gradient(name: str, node: Node, wrt: Mapping[str, Node]) -> None:
    spans = (node.span,) if node.span else ()
    if not node.requires_grad:
        raise NoGradientError(
            f"{name} does not require grad and does not have a grad_fn",
            hint="name a leaf that it depends on with --wrt",
            spans=spans,
        )
    for each, part in {name: node, **wrt}.items():
        if part.dtype.kind == "c":
            raise InputError(
                f"Jacobians and Hessians are of real numbers, and {each} is complex",
                hint=f"differentiate real({each}) or imag({each}), or by real parts",
                spans=spans,
            )


def names_of_entries(name: str, shape: Sequence[int]) -> list[str]:
    """The name of each entry of an array, in row-major order: `x[0, 1]`; the name itself for a number."""
    return [f"{name}[{', '.join(map(str, place))}]" if place else name for place in np.ndindex(*shape)]
