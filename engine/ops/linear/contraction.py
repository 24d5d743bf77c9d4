"""Sums of products over named or numbered axes: einsum, tensordot, inner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...errors import InputError, ShapeError
from ...graph import Example, Node, Shape, as_node, make
from ..fold import named
from ..infer import axis_of, broadcast, integers
from ..row import compose

_FAMILY = "linalg"


class _Term(NamedTuple):
    """A tensor and the label of each of its axes."""

    node: Node
    labels: tuple[str, ...]


def _size(shape: Shape) -> int:
    size = 1
    for length in shape:
        size *= length
    return size


def _terms(equation: str, operands: Sequence[Node]) -> tuple[list[_Term], tuple[str, ...]]:
    """The operands with their labels, and the labels of the result; `...` stands for labels of its own."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    subscripts = left.split(",")
    if len(subscripts) != len(operands):
        raise InputError(
            f"einsum(): the number of subscripts in the equation ({len(subscripts)}) does not match the number of "
            f"operands ({len(operands)})"
        )
    hidden = 0
    terms = []
    for place, (subscript, node) in enumerate(zip(subscripts, operands, strict=True)):
        before, dots, after = subscript.partition("...")
        named_axes = [*before, *after]
        wrong = [label for label in named_axes if not (label.isascii() and label.isalpha())]
        if wrong:
            raise InputError(f"einsum(): invalid subscript given: {wrong[0]!r}, subscripts must be in [a-zA-Z]")
        rest = node.ndim - len(named_axes)
        if rest < 0 or (rest and not dots):
            raise ShapeError(
                f"einsum(): the number of subscripts in the equation ({len(named_axes)}) does not match the number of "
                f"dimensions ({node.ndim}) for operand {place}"
            )
        hidden = max(hidden, rest)
        terms.append(_Term(node, (*before, *(f".{entry}" for entry in range(rest, 0, -1)), *after)))
    dotted = tuple(f".{entry}" for entry in range(hidden, 0, -1))
    counts: dict[str, int] = {}
    for term in terms:
        for label in term.labels:
            counts[label] = counts.get(label, 0) + 1
    if not arrow:
        once = sorted(label for label, count in counts.items() if count == 1 and label[0] != ".")
        return terms, (*dotted, *once)
    before, dots, after = right.partition("...")
    output = (*before, *(dotted if dots else ()), *after)
    for label in output:
        if label not in counts:
            raise InputError(
                f"einsum(): output subscript {label} does not appear in the equation for any input operand"
            )
        if output.count(label) > 1:
            raise InputError(f"einsum(): output subscript {label} appears more than once in the output")
    return terms, output


def _sizes(terms: Sequence[_Term]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for place, (node, labels) in enumerate(terms):
        for label, size in zip(labels, node.shape, strict=True):
            have = sizes.get(label, 1)
            if have not in (1, size) and size != 1:
                raise ShapeError(
                    f"einsum(): subscript {label} has size {size} for operand {place} which does not broadcast with "
                    f"previously seen size {have}"
                )
            sizes[label] = max(have, size) if size != 0 else 0
    return sizes


def _without_repeats(term: _Term) -> _Term:
    """Axes of one label in one tensor become its diagonal."""
    node, labels = term
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            node = make.diagonal(node, 0, first, second)
            labels = (*(other for axis, other in enumerate(labels) if axis not in (first, second)), label)
    return _Term(node, labels)


def _summed(term: _Term, keep: Sequence[str]) -> _Term:
    """Axes whose label nobody needs are summed away."""
    drop = tuple(axis for axis, label in enumerate(term.labels) if label not in keep)
    if not drop:
        return term
    return _Term(make.sum(term.node, drop), tuple(label for label in term.labels if label in keep))


def _ordered(term: _Term, labels: Sequence[str]) -> Node:
    order = tuple(term.labels.index(label) for label in labels)
    return term.node if order == tuple(range(len(order))) else make.permute(term.node, *order)


def _alone(term: _Term, output: tuple[str, ...]) -> Node:
    summed = tuple(label for label in term.labels if label not in output)
    order = tuple(term.labels.index(label) for label in (*output, *summed))
    turned = named(make.permute(term.node, *order), "PermuteBackward0") if order else term.node
    if not summed:
        return turned
    return make.sum(turned, tuple(range(len(output), len(order))))  # type: ignore[no-any-return]  # any row's call


def _spaced(term: _Term, labels: Sequence[str]) -> Node:
    """A tensor with an axis, of size 1 where it has none, for each label."""
    own = [label for label in labels if label in term.labels]
    node = _ordered(term, own)
    sizes = iter(node.shape)
    return make.reshape(node, tuple(next(sizes) if label in own else 1 for label in labels))  # type: ignore[no-any-return]  # as above


def _pair(one: _Term, two: _Term, keep: Sequence[str], sizes: dict[str, int]) -> _Term:
    """Two tensors multiplied, shared labels that nobody needs summed."""
    whole = {*one.labels, *two.labels} <= set(keep)
    one, two = _summed(one, (*keep, *two.labels)), _summed(two, (*keep, *one.labels))
    shared = [label for label in one.labels if label in two.labels]
    inner = [label for label in shared if label not in keep]
    labels = tuple(label for label in keep if label in (*one.labels, *two.labels))
    if not inner:
        product = _spaced(one, labels) * _spaced(two, labels)
        return _Term(product if whole else named(product, "ViewBackward0"), labels)
    batch = [label for label in shared if label in keep]
    rows = [label for label in one.labels if label not in shared]
    columns = [label for label in two.labels if label not in shared]
    left = _blocked(one, (batch, rows, inner), sizes)
    right = _blocked(two, (batch, inner, columns), sizes)
    product = make.matmul(left, right)
    shape = tuple(sizes[label] for label in (*batch, *rows, *columns))
    return _Term(named(make.reshape(product, shape), "ViewBackward0"), (*batch, *rows, *columns))


def _blocked(term: _Term, groups: tuple[list[str], ...], sizes: dict[str, int]) -> Node:
    """A tensor as a stack of matrices: each group of labels is one axis."""
    labels = [label for group in groups for label in group]
    node = _ordered(term, labels)
    shape = tuple(sizes[label] for label in labels)
    if node.shape != shape:
        node = make.expand(node, shape)
    return make.reshape(node, tuple(_size(tuple(sizes[label] for label in group)) for group in groups))  # type: ignore[no-any-return]  # as above


def _einsum(equation: str, *operands: Node) -> Node:
    nodes = [as_node(node) for node in operands]
    if not nodes:
        raise InputError("einsum(): must provide at least one operand")
    given, output = _terms(equation, nodes)
    sizes = _sizes(given)
    terms = [_without_repeats(term) for term in given]
    result = terms[0]
    if len(terms) == 1:
        return _alone(result, output)
    for place, term in enumerate(terms[1:], 2):
        later = {label for other in terms[place:] for label in other.labels}
        result = _pair(result, term, (*output, *sorted(later - set(output))), sizes)
    node = _ordered(result, output)
    return node if node is result.node else named(node, "ViewBackward0")


EINSUM = compose(
    "einsum",
    "The sum of products over labelled axes: labels that the result does not name are summed over.",
    family=_FAMILY,
    method=False,
    call=_einsum,
    forms=(
        "torch.einsum('ij,jk->ik', A, B)",
        "torch.einsum('ii->i', A)",
        "torch.einsum('...ij,...jk', T, U)",
        "np.einsum('ij->', A)",
    ),
    examples=(
        Example("torch.einsum('ij,jk->ik', A, B)", {"A": (2, 3), "B": (3, 2)}),
        Example("torch.einsum('i,ij,j->', x, A, y)", {"x": (2,), "A": (2, 3), "y": (3,)}),
        Example("torch.einsum('ii->i', A)", {"A": (3, 3)}),
        Example("torch.einsum('i,j->ij', x, y)", {"x": (2,), "y": (3,)}),
    ),
    domain="all numbers",
    kink="none: linear in each argument",
    grad_fn="ViewBackward0",
)


def _contracted(one: Node, two: Node, first: Sequence[int], second: Sequence[int]) -> Node:
    """The sum of products over some axes of one tensor and as many of another."""
    rows = [axis for axis in range(one.ndim) if axis not in first]
    columns = [axis for axis in range(two.ndim) if axis not in second]
    kept = tuple(one.shape[axis] for axis in rows), tuple(two.shape[axis] for axis in columns)
    inner = broadcast(tuple(one.shape[axis] for axis in first), tuple(two.shape[axis] for axis in second))
    left = make.permute(one, *rows, *first) if one.ndim > 1 else one
    right = make.permute(two, *second, *columns) if two.ndim > 1 else two
    product = make.matmul(
        make.reshape(left, (_size(kept[0]), _size(inner))), make.reshape(right, (_size(inner), _size(kept[1])))
    )
    return named(make.reshape(product, (*kept[0], *kept[1])), "ViewBackward0")


def _tensordot(a: Node, b: Node, dims: Any = 2) -> Node:
    a, b = as_node(a), as_node(b)
    if isinstance(dims, int) and not isinstance(dims, bool):
        if not 0 <= dims <= min(a.ndim, b.ndim):
            raise InputError(
                f"tensordot expects dims >= 0 and at most the ranks {a.ndim} and {b.ndim}, but got dims={dims}"
            )
        first, second = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        first = [axis_of(dim, a.ndim) for dim in integers(dims[0], "dims")]
        second = [axis_of(dim, b.ndim) for dim in integers(dims[1], "dims")]
    if len(first) != len(second) or any(a.shape[x] != b.shape[y] for x, y in zip(first, second, strict=True)):
        raise ShapeError(_unlike(a, b, first, second))
    return _contracted(a, b, first, second)


def _unlike(a: Node, b: Node, first: Sequence[int], second: Sequence[int]) -> str:
    """PyTorch's words for dimensions that do not match, the first pair of them."""
    if len(first) != len(second):
        return "both dimension lists should have same length"
    x, y = next((x, y) for x, y in zip(first, second, strict=True) if a.shape[x] != b.shape[y])
    return (
        f"contracted dimensions need to match, but first has size {a.shape[x]} in dim {x} and second has size "
        f"{b.shape[y]} in dim {y}"
    )


TENSORDOT = compose(
    "tensordot",
    "The sum of products over the last axes of one tensor and the first of another, or over named ones.",
    family=_FAMILY,
    method=False,
    call=_tensordot,
    forms=("torch.tensordot(A, B, dims=1)", "torch.tensordot(T, U, dims=([2], [1]))", "np.tensordot(A, B, axes=1)"),
    examples=(
        Example("torch.tensordot(A, B, dims=1)", {"A": (2, 3), "B": (3, 2)}),
        Example("torch.tensordot(A, B, dims=2)", {"A": (2, 3), "B": (2, 3)}),
    ),
    domain="all numbers",
    kink="none: linear in each argument",
    grad_fn="ViewBackward0",
)


def _inner(input: Node, other: Node) -> Node:
    input, other = as_node(input), as_node(other)
    if not input.ndim or not other.ndim:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise ShapeError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(input.shape)} and "
            f"{list(other.shape)}"
        )
    return _contracted(input, other, [input.ndim - 1], [other.ndim - 1])


INNER = compose(
    "inner",
    "The sums of products over the last axes of two tensors.",
    family=_FAMILY,
    call=_inner,
    forms=("torch.inner(x, y)", "A.inner(B)", "np.inner(x, y)"),
    examples=(Example("torch.inner(x, y)", {"x": (3,), "y": (3,)}), Example("A.inner(B)", {"A": (2, 3), "B": (2, 3)})),
    domain="all numbers",
    kink="none: linear in each argument",
    grad_fn="ViewBackward0",
)
