"""Products of matrices and vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import InputError, ShapeError
from ...graph import INT64, Attrs, DType, Example, Node, Op, Shape, add_row, apply, as_node, leaf, make
from .. import batch, infer
from ..cotangent import flow
from ..fold import conjugate, named
from ..row import compose, in_one_dtype

_FAMILY = "linalg"


def svd(xp: Any, x: Any, **options: Any) -> Any:
    """The singular value decomposition, or an error for people.

    Raises:
        InputError: where it does not converge, as it does for NaN.
    """
    try:
        return xp.linalg.svd(x, **options)
    except np.linalg.LinAlgError:
        raise InputError("linalg.svd: the algorithm did not converge: is an element NaN or infinite?") from None


def _matmul_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:  # noqa: ARG001  # every `infer` takes attrs
    left, right = args
    if not left.ndim or not right.ndim:
        raise ShapeError(
            f"both arguments to matmul need to be at least 1D, but they are {left.ndim}D and {right.ndim}D",
            hint="write * for the product with a number",
        )
    inner = right.shape[-2] if right.ndim > 1 else right.shape[0]
    if left.shape[-1] != inner:
        raise ShapeError(
            _unlike(left.shape, right.shape),
            hint=f"the last axis of the first has {left.shape[-1]} elements, the "
            f"{'last but one' if right.ndim > 1 else 'only'} axis of the second has {inner}",
        )
    batch = infer.broadcast(left.shape[:-2], right.shape[:-2])
    rows = left.shape[-2:-1] if left.ndim > 1 else ()
    columns = right.shape[-1:] if right.ndim > 1 else ()
    return (*batch, *rows, *columns), infer.promote(args)


def _unlike(left: Shape, right: Shape) -> str:
    """PyTorch's words for shapes that have no product: those of the routine that it would have called."""
    if len(left) == len(right) == 1:
        return (
            f"inconsistent tensor size, expected tensor {list(left)} and src {list(right)} to have the same number of "
            f"elements, but got {left[0]} and {right[0]} elements respectively"
        )
    if len(right) > 2:
        batch, rows = math.prod((left[:-2] if len(left) > 2 else ()) or right[:-2]), left[-1]
        wanted, given = [batch, rows], [math.prod(right[:-2]) if len(left) < 3 else batch, right[-2]]
        return f"Expected size for first two dimensions of batch2 tensor to be: {wanted} but got: {given}."
    rows = math.prod(left[:-1])
    if len(right) == 1:
        return f"size mismatch, got input ({rows}), mat ({rows}x{left[-1]}), vec ({right[0]})"
    return f"mat1 and mat2 shapes cannot be multiplied ({rows}x{left[-1]} and {right[0]}x{right[1]})"


def _matmul_kernel(xp: Any, left: Any, right: Any, cotangent: int | None = None) -> Any:
    product = xp.matmul(left, right)
    # The plain product first; zero means stop matters only where something is not finite.
    if cotangent is None or xp.isfinite(xp.sum(product)):
        return product
    if cotangent == 0:
        return _guarded_product(xp, left, right)
    turned = _guarded_product(xp, _turned(xp, right), _turned(xp, left))
    return _turned(xp, turned) if left.ndim > 1 and right.ndim > 1 else turned


def _turned(xp: Any, matrix: Any) -> Any:
    return xp.swapaxes(matrix, -1, -2) if matrix.ndim > 1 else matrix


def _guarded_product(xp: Any, g: Any, factor: Any) -> Any:
    """The product in which a zero of g stops whatever stands against it, without the array of all single products.

    The finite entries are multiplied as they are; where a single product is infinite or NaN is counted apart.
    """

    def count(one: Any, other: Any) -> Any:
        return xp.matmul(one.astype(g.dtype), other.astype(g.dtype)) > 0

    finite = xp.matmul(xp.where(xp.isfinite(g), g, 0), xp.where(xp.isfinite(factor), factor, 0))
    inf = xp.inf
    undefined = (
        count(g != 0, xp.isnan(factor))
        | count(xp.isnan(g), factor == factor)  # all but NaN, which the line above counts
        | count(xp.isinf(g), factor == 0)
    )
    up = (
        count(g > 0, factor == inf)
        | count(g < 0, factor == -inf)
        | count(g == inf, factor > 0)
        | count(g == -inf, factor < 0)
    )
    down = (
        count(g > 0, factor == -inf)
        | count(g < 0, factor == inf)
        | count(g == -inf, factor > 0)
        | count(g == inf, factor < 0)
    )
    result = xp.where(up, inf, xp.where(down, -inf, finite))
    return xp.where(undefined | (up & down), xp.nan, result).astype(finite.dtype)[()]


def _matmul_formula(m: Any, left: Any, right: Any, cotangent: int | None = None) -> Any:
    left, right = np.asarray(left, dtype=object), np.asarray(right, dtype=object)
    one = left if left.ndim > 1 else left[None, :]
    other = right if right.ndim > 1 else right[:, None]
    batch = np.broadcast_shapes(one.shape[:-2], other.shape[:-2])
    one = np.broadcast_to(one, (*batch, *one.shape[-2:]))
    other = np.broadcast_to(other, (*batch, *other.shape[-2:]))
    result = np.empty((*batch, one.shape[-2], other.shape[-1]), dtype=object)
    zero = m.number(0)
    for where in np.ndindex(*result.shape):
        row, column = one[(*where[:-2], where[-2])], other[(*where[:-2], slice(None), where[-1])]
        pairs = list(zip(row, column, strict=True))
        if cotangent is not None:
            pairs = [pair for pair in pairs if not m.boolean(m.equal(pair[cotangent], zero))]
        result[where] = m.total([x * y for x, y in pairs])
    if left.ndim == 1:
        result = result[..., 0, :]
    return result[..., 0] if right.ndim == 1 else result


def _matmul_rule(node: Node, g: Node) -> list[Node | None]:
    left, right = (conjugate(arg) for arg in node.args)
    if left.ndim == 1 and right.ndim == 1:
        return [flow(g, right), flow(g, left)]
    row = left.ndim == 1
    if row:
        left, g = make.unsqueeze(left, 0), make.unsqueeze(g, -2)
    column = right.ndim == 1
    if column:
        right, g = make.unsqueeze(right, 1), make.unsqueeze(g, -1)
    to_left = to_right = None
    # The product of a column and a row has but one term an entry: nothing is added, so that -0 stays.
    if node.args[0].requires_grad:
        to_left = flow(g, transposed(right)) if column else product_of_cotangent(g, transposed(right), 0)
    if node.args[1].requires_grad:
        to_right = flow(g, transposed(left)) if row else product_of_cotangent(transposed(left), g, 1)
    if column and to_right is not None:
        to_right = make.squeeze(to_right, -1)
    return [to_left, to_right]


def transposed(matrix: Node) -> Node:
    """Rows and columns exchanged."""
    return make.transpose(matrix, -2, -1)  # type: ignore[no-any-return]  # any row's call


def product_of_cotangent(left: Node, right: Node, cotangent: int) -> Node:
    """A matrix product one side of which (0 or 1) is a cotangent: zero means stop."""
    return apply(MATMUL, (left, right), {"cotangent": cotangent})


def _matmul_grad_fn(args: Sequence[Node], attrs: Attrs) -> str:  # noqa: ARG001  # every `grad_fn` takes attrs
    left, right = args
    known = {(1, 1): "DotBackward0", (2, 2): "MmBackward0", (2, 1): "MvBackward0", (1, 2): "SqueezeBackward4"}
    name = known.get((left.ndim, right.ndim), "UnsafeViewBackward0")
    # PyTorch folds a matrix times a stack into one product of matrices and copies its transpose out.
    matrix = left.ndim == 2 or (left.ndim == right.ndim == 3 and left.shape[0] == 1 < right.shape[0])
    return "CloneBackward0" if right.ndim > 2 and matrix and left.requires_grad else name


def _matmul(input: Node, other: Node) -> Node:
    return apply(MATMUL, in_one_dtype(as_node(input), as_node(other)))


MATMUL = add_row(
    Op(
        name="matmul",
        doc="The product of two matrices, of a matrix and a vector, of two vectors, or of stacks of matrices.",
        family=_FAMILY,
        call=_matmul,
        forms=("A @ B", "torch.matmul(A, B)", "A.matmul(B)", "A @ x", "x @ y", "x @ A", "np.matmul(A, B)"),
        aliases=("linalg.matmul",),
        infer=_matmul_infer,
        batch=batch.multiplied,
        kernel=_matmul_kernel,
        formula=_matmul_formula,
        rule=_matmul_rule,
        examples=(
            Example("A @ B", {"A": (2, 3), "B": (3, 2)}),
            Example("A @ x", {"A": (2, 3), "x": (3,)}),
            Example("x @ A", {"x": (2,), "A": (2, 3)}),
            Example("T @ B", {"T": (2, 2, 3), "B": (3, 2)}),
        ),
        domain="all numbers; the last axis of the first is as long as the last but one of the second",
        kink="none: linear in each argument",
        grad_fn=_matmul_grad_fn,
    )
)


def _ranked(name: str, ranks: tuple[int, ...], args: Sequence[Node], text: str) -> None:
    """Refuse tensors of other ranks than a function takes, in PyTorch's words."""
    if tuple(arg.ndim for arg in args) != ranks:
        have = " and ".join(f"{arg.ndim}D" for arg in args)
        raise ShapeError(f"{text}, but got {have} tensors", hint=f"{name} takes no others; write @ for any ranks")


def _product(name: str, doc: str, ranks: tuple[int, int], grad_fn: str, text: str, shapes: tuple[Shape, Shape]) -> Op:
    """A row for the matrix product of tensors of two ranks only."""

    def multiply(input: Node, other: Node) -> Node:
        args = (as_node(input), as_node(other))
        if name == "mm" and (args[0].ndim, args[1].ndim) != ranks:
            raise ShapeError(
                f"{'self' if args[0].ndim != 2 else 'mat2'} must be a matrix", hint="write @ for any ranks"
            )
        if name == "bmm" and (args[0].ndim, args[1].ndim) != ranks:
            which = "batch1" if args[0].ndim != 3 else "batch2"
            raise ShapeError(f"{which} must be a 3D tensor", hint="write @ for any ranks")
        _ranked(name, ranks, args, text)
        if name == "bmm" and args[0].shape[0] != args[1].shape[0]:
            raise ShapeError(f"bmm: batch sizes differ: {list(args[0].shape)} and {list(args[1].shape)}")
        return apply(MATMUL, in_one_dtype(*args), grad_fn=grad_fn)

    def mm(input: Node, mat2: Node) -> Node:
        return multiply(input, mat2)

    def mv(input: Node, vec: Node) -> Node:
        return multiply(input, vec)

    one, two = ("x" if len(shape) == 1 else "A" if len(shape) == 2 else "T" for shape in shapes)
    if one == two:
        two = {"x": "y", "A": "B", "T": "U"}[two]
    return compose(
        name,
        doc,
        family=_FAMILY,
        call=mv if name == "mv" else mm,
        forms=(f"torch.{name}({one}, {two})", f"{one}.{name}({two})"),
        examples=(Example(f"torch.{name}({one}, {two})", {one: shapes[0], two: shapes[1]}),),
        domain="all numbers",
        kink="none: linear in each argument",
        grad_fn=grad_fn,
    )


MM = _product("mm", "The product of two matrices.", (2, 2), "MmBackward0", "matrices expected", ((2, 3), (3, 2)))
MV = _product("mv", "A matrix times a vector.", (2, 1), "MvBackward0", "matrix and vector expected", ((2, 3), (3,)))
BMM = _product(
    "bmm",
    "The products of two stacks of matrices, one by one.",
    (3, 3),
    "BmmBackward0",
    "batches of matrices expected",
    ((2, 2, 3), (2, 3, 2)),
)


def _dot(input: Node, tensor: Node, *, any_rank: bool = False) -> Node:
    args = (as_node(input), as_node(tensor))
    if any_rank and not (args[0].ndim and args[1].ndim):
        return args[0] * args[1]
    if not any_rank or args[1].ndim > 2:
        _ranked("dot", (1, 1), args, "1D tensors expected")
    return apply(MATMUL, in_one_dtype(*args))


DOT = compose(
    "dot",
    "The sum of the products of two vectors' elements; with np. also the product of matrices.",
    family=_FAMILY,
    call=_dot,
    numpy={"any_rank": True},
    forms=("torch.dot(x, y)", "x.dot(y)", "np.dot(A, B)"),
    examples=(Example("torch.dot(x, y)", {"x": (3,), "y": (3,)}),),
    domain="all numbers",
    kink="none: linear in each argument",
    grad_fn="DotBackward0",
)


def _vdot(input: Node, other: Node) -> Node:
    args = (as_node(input), as_node(other))
    _ranked("vdot", (1, 1), args, "1D tensors expected")
    return apply(MATMUL, in_one_dtype(conjugate(args[0]), args[1]), grad_fn="VdotBackward0")


VDOT = compose(
    "vdot",
    "The dot product of two vectors, the first conjugated.",
    family=_FAMILY,
    call=_vdot,
    forms=("torch.vdot(x, y)", "x.vdot(y)", "np.vdot(x, y)"),
    examples=(Example("torch.vdot(x, y)", {"x": (3,), "y": (3,)}),),
    domain="all numbers",
    kink="none: linear in each argument",
    grad_fn="VdotBackward0",
)


def _vecdot(x: Node, y: Node, *, dim: int = -1) -> Node:
    x, y = as_node(x), as_node(y)
    return _vdot(x, y) if x.ndim == y.ndim == 1 else make.sum(conjugate(x) * y, dim)


VECDOT = compose(
    "linalg.vecdot",
    "The dot products of the vectors of two tensors along an axis, the first conjugated.",
    family=_FAMILY,
    aliases=("vecdot",),
    method=False,
    call=_vecdot,
    forms=("torch.linalg.vecdot(x, y)", "torch.linalg.vecdot(A, B, dim=0)"),
    examples=(Example("torch.linalg.vecdot(A, B, dim=0)", {"A": (2, 3), "B": (2, 3)}),),
    domain="all numbers",
    kink="none: linear in each argument",
    grad_fn="VdotBackward0",
)


def _outer(input: Node, vec2: Node, *, any_rank: bool = False) -> Node:
    args = [as_node(input), as_node(vec2)]
    if any_rank:
        args = [make.reshape(arg, (-1,)) for arg in args]
    for name, arg in zip(("self", "vec2"), args, strict=True):
        if arg.ndim != 1:
            raise ShapeError(f"outer: Expected 1-D argument {name}, but got {arg.ndim}-D", hint="write x.reshape(-1)")
    return make.unsqueeze(args[0], 1) * args[1]  # type: ignore[no-any-return]  # any row's call


OUTER = compose(
    "outer",
    "The products of each element of one vector with each of another.",
    family=_FAMILY,
    aliases=("ger",),
    call=_outer,
    numpy={"any_rank": True},
    forms=("torch.outer(x, y)", "x.outer(y)", "torch.ger(x, y)", "np.outer(x, y)"),
    examples=(Example("torch.outer(x, y)", {"x": (3,), "y": (2,)}),),
    domain="all numbers",
    kink="none: linear in each argument",
    grad_fn="MulBackward0",
)


def _weighted(node: Node, weight: float) -> Node:
    return node if weight == 1 else node * float(weight)


def _added(
    name: str, doc: str, ranks: tuple[int, int], shapes: tuple[Shape, Shape, Shape], words: tuple[str, str]
) -> Op:
    """A row for a tensor plus a product: beta * input + alpha * (first @ second)."""
    grad_fn = f"{name.capitalize()}Backward0"

    def add(input: Node, one: Node, two: Node, beta: float, alpha: float) -> Node:
        one, two = as_node(one), as_node(two)
        _ranked(name, ranks, (one, two), f"{ranks[0]}D and {ranks[1]}D tensors expected")
        product = _outer(one, two) if name == "addr" else apply(MATMUL, in_one_dtype(one, two))
        return named(_weighted(as_node(input), beta) + _weighted(product, alpha), grad_fn)

    def addmm(input: Node, mat1: Node, mat2: Node, *, beta: float = 1, alpha: float = 1) -> Node:
        return add(input, mat1, mat2, beta, alpha)

    def addmv(input: Node, mat: Node, vec: Node, *, beta: float = 1, alpha: float = 1) -> Node:
        return add(input, mat, vec, beta, alpha)

    def addr(input: Node, vec1: Node, vec2: Node, *, beta: float = 1, alpha: float = 1) -> Node:
        return add(input, vec1, vec2, beta, alpha)

    def baddbmm(input: Node, batch1: Node, batch2: Node, *, beta: float = 1, alpha: float = 1) -> Node:
        return add(input, batch1, batch2, beta, alpha)

    one, two = words
    return compose(
        name,
        doc,
        family=_FAMILY,
        call={"addmm": addmm, "addmv": addmv, "addr": addr, "baddbmm": baddbmm}[name],
        forms=(f"torch.{name}(c, {one}, {two})", f"torch.{name}(c, {one}, {two}, beta=0.5, alpha=2)"),
        examples=(
            Example(
                f"torch.{name}(c, {one}, {two}, beta=0.5, alpha=2)", dict(zip(("c", one, two), shapes, strict=True))
            ),
        ),
        domain="all numbers",
        kink="none: linear in each argument",
        grad_fn=grad_fn,
    )


ADDMM = _added("addmm", "A matrix plus the product of two.", (2, 2), ((2, 2), (2, 3), (3, 2)), ("A", "B"))
ADDMV = _added("addmv", "A vector plus a matrix times a vector.", (2, 1), ((2,), (2, 3), (3,)), ("A", "x"))
ADDR = _added("addr", "A matrix plus the outer product of two vectors.", (1, 1), ((2, 3), (2,), (3,)), ("x", "y"))
BADDBMM = _added(
    "baddbmm",
    "A stack of matrices plus the products of two stacks.",
    (3, 3),
    ((2, 2, 2), (2, 2, 3), (2, 3, 2)),
    ("T", "U"),
)


def _trace_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:  # noqa: ARG001  # every `infer` takes attrs
    if args[0].ndim != 2:
        raise ShapeError(f"trace: expected a matrix, but got tensor with dim {args[0].ndim}")
    dtype = args[0].dtype
    return (), dtype if dtype.kind in "fc" else INT64


def _trace_rule(node: Node, g: Node) -> list[Node | None]:
    return [make.where(leaf(np.eye(*node.args[0].shape, dtype=bool)), g, 0.0)]


def _trace(input: Node) -> Node:
    return apply(TRACE, (as_node(input),))


TRACE = add_row(
    Op(
        name="trace",
        doc="The sum of a matrix's diagonal.",
        family=_FAMILY,
        call=_trace,
        forms=("torch.trace(A)", "A.trace()", "np.trace(A)"),
        infer=_trace_infer,
        kernel=lambda xp, x: xp.sum(xp.diagonal(x)),
        formula=lambda m, x: m.total([x[place, place] for place in range(min(np.shape(x)))]),
        rule=_trace_rule,
        examples=(Example("torch.trace(A)", {"A": (3, 3)}),),
        domain="all matrices",
        kink="none: linear",
        grad_fn="TraceBackward0",
    )
)


def _cross(input: Node, other: Node, dim: int | None = None) -> Node:
    input, other = as_node(input), as_node(other)
    shape = infer.broadcast(input.shape, other.shape)
    if dim is None:
        if 3 not in shape:
            raise ShapeError("no dimension of size 3 in input", hint=f"the shape is {list(shape)}")
        dim = shape.index(3)
    axis = infer.axis_of(dim, len(shape))
    if not shape or shape[axis] != 3:
        raise ShapeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got "
            + " and ".join(str(((1,) * (len(shape) - node.ndim) + node.shape or (1,))[axis]) for node in (input, other))
        )

    def turned(x: Node, by: int) -> Node:
        return make.roll(x, -by, dim)  # type: ignore[no-any-return]  # any row's call

    return named(turned(input, 1) * turned(other, 2) - turned(input, 2) * turned(other, 1), "LinalgCrossBackward0")


def _linalg_cross(input: Node, other: Node, *, dim: int = -1) -> Node:
    return _cross(input, other, dim)


CROSS, LINALG_CROSS = (
    compose(
        name,
        f"The cross product of vectors of three elements along {axis}.",
        family=_FAMILY,
        method=name == "cross",
        numpy={"dim": -1},
        call=call,
        forms=forms,
        examples=(Example(forms[0], {"x": (3,), "y": (3,)}),),
        domain="all numbers",
        kink="none: linear in each argument",
        grad_fn="LinalgCrossBackward0",
    )
    for name, axis, call, forms in (
        ("cross", "an axis, the first of that length unless said", _cross, ("torch.cross(x, y)", "np.cross(x, y)")),
        ("linalg.cross", "the last axis, or another", _linalg_cross, ("torch.linalg.cross(x, y)",)),
    )
)


def _kron(input: Node, other: Node) -> Node:
    input, other = as_node(input), as_node(other)
    ndim = max(input.ndim, other.ndim)
    one = (1,) * (ndim - input.ndim) + input.shape
    two = (1,) * (ndim - other.ndim) + other.shape
    spaced = make.reshape(input, tuple(size for length in one for size in (length, 1)))
    between = make.reshape(other, tuple(size for length in two for size in (1, length)))
    return named(
        make.reshape(spaced * between, tuple(x * y for x, y in zip(one, two, strict=True))), "UnsafeViewBackward0"
    )


KRON = compose(
    "kron",
    "The Kronecker product: each element of the first times all of the second.",
    family=_FAMILY,
    call=_kron,
    forms=("torch.kron(A, B)", "A.kron(B)", "np.kron(A, B)"),
    examples=(Example("torch.kron(A, B)", {"A": (2, 2), "B": (2, 3)}),),
    domain="all numbers",
    kink="none: linear in each argument",
    grad_fn="UnsafeViewBackward0",
)


def _multi_dot(tensors: Sequence[Node]) -> Node:
    nodes = [as_node(tensor) for tensor in tensors]
    if len(nodes) < 2:
        raise InputError(f"multi_dot(): expected at least 2 tensors but got {len(nodes)}")
    result = nodes[0]
    for node in nodes[1:]:
        result = make.matmul(result, node)
    return named(result, "ViewBackward0")


MULTI_DOT = compose(
    "linalg.multi_dot",
    "The product of several matrices (the first and the last may be vectors).",
    family=_FAMILY,
    aliases=("multi_dot",),
    method=False,
    call=_multi_dot,
    forms=("torch.linalg.multi_dot([A, B, C])",),
    examples=(Example("torch.linalg.multi_dot([A, B, C])", {"A": (2, 3), "B": (3, 2), "C": (2, 2)}),),
    domain="all numbers",
    kink="none: linear in each argument",
    grad_fn="ViewBackward0",
)
