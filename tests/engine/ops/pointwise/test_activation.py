"""Activations: tails to the third order, kinks as PyTorch has them, parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from agrad.engine.errors import InputError, ShapeError
from agrad.engine.gradient import gradients
from agrad.engine.graph import TABLE, Node, as_node, leaf, make
from agrad.engine.run.cpu import evaluate

inf, nan = math.inf, math.nan

TAILS = [
    # op, point, then the value and the derivatives of orders 1 to 3, from mpmath with 250 digits
    ("softplus", 38.5, [38.5, 1.0, 1.9039802832864523e-17, -1.903980283286452e-17]),
    ("softplus", -700.0, [9.85967654375977e-305, 9.85967654375977e-305, 9.85967654375977e-305, 9.85967654375977e-305]),
    (
        "logsigmoid",
        40.0,
        [-4.248354255291589e-18, 4.248354255291589e-18, -4.248354255291589e-18, 4.248354255291589e-18],
    ),
    ("logsigmoid", -800.0, [-800.0, 1.0, -0.0, -0.0]),
    (
        "silu",
        -40.0,
        [-1.6993417021166355e-16, -1.6568581595637197e-16, -1.6143746170108038e-16, -1.571891074457888e-16],
    ),
    ("silu", 40.0, [40.0, 1.0000000000000002, -1.6143746170108038e-16, 1.571891074457888e-16]),
    (
        "mish",
        -40.0,
        [-1.6993417021166355e-16, -1.6568581595637197e-16, -1.6143746170108038e-16, -1.571891074457888e-16],
    ),
    ("mish", 40.0, [40.0, 1.0, -5.631136330077695e-33, 1.1117884549127757e-32]),
    (
        "gelu",
        -30.0,
        [-1.472014178144456e-196, -4.416031690708495e-195, -1.3233342291209357e-193, -3.961160810553536e-192],
    ),
    (
        "gelu.tanh",
        -10.0,
        [-7.619853024160526e-23, -7.618400096464814e-22, -7.540706654172292e-21, -7.386814681638163e-20],
    ),
    (
        "softsign",
        100000000.0,
        [0.9999999900000001, 9.999999800000003e-17, -1.9999999400000014e-24, 5.999999760000006e-32],
    ),
    (
        "softsign",
        -100000000.0,
        [-0.9999999900000001, 9.999999800000003e-17, 1.9999999400000014e-24, 5.999999760000006e-32],
    ),
    ("tanhshrink", 1e-05, [3.333333333200001e-16, 9.999999999333335e-11, 1.9999999997333335e-05, 1.9999999992]),
    ("tanhshrink", -0.09, [-0.00024221525283989192, 0.008056459922717528, -0.17806930950318542, 1.9359377598971779]),
    ("tanhshrink", 20.0, [19.0, 1.0, 3.398683404233271e-17, -6.797366808466542e-17]),
]


@pytest.mark.parametrize(("name", "x", "expected"), TAILS)
def test_tails(derivatives: Any, name: str, x: float, expected: list[float]) -> None:
    """Value and derivatives keep their digits where the textbook form cancels."""
    assert derivatives(TABLE[name], x, 3) == pytest.approx(expected, rel=1e-12, abs=0.0)


@pytest.mark.parametrize(
    ("name", "parameters", "points", "values", "expected"),
    [
        ("relu", (), [-1.0, 0.0, 1.0, nan], [0.0, 0.0, 1.0, nan], [0.0, 0.0, 1.0, 1.0]),
        ("relu6", (), [0.0, 6.0, 3.0, nan], [0.0, 6.0, 3.0, nan], [0.0, 0.0, 1.0, 1.0]),
        ("leaky_relu", (), [0.0, nan], [0.0, nan], [0.01, 0.01]),
        ("rrelu", (), [-1.0, 0.0], [-11 / 48, 0.0], [11 / 48, 11 / 48]),
        ("elu", (), [0.0, nan, 1.0], [0.0, nan, 1.0], [1.0, 1.0, 1.0]),
        ("elu", (0.5,), [0.0, -1.0], [0.0, 0.5 * math.expm1(-1)], [0.5, 0.5 * math.exp(-1)]),
        ("selu", (), [0.0, 1.0], [0.0, 1.0507009873554805], [1.7580993408473766, 1.0507009873554805]),
        ("celu", (2.0,), [0.0, -1.0], [0.0, 2 * math.expm1(-0.5)], [1.0, math.exp(-0.5)]),
        ("hardtanh", (), [-1.0, 1.0, 0.5, nan], [-1.0, 1.0, 0.5, nan], [0.0, 0.0, 1.0, 1.0]),
        ("hardsigmoid", (), [-3.0, 3.0, 0.0, nan], [0.0, 1.0, 0.5, nan], [0.0, 0.0, 1 / 6, 0.0]),
        ("hardswish", (), [-3.0, 0.0, 3.0, nan], [0.0, 0.0, 3.0, nan], [0.0, 0.5, 1.0, 1.0]),
        ("hardshrink", (0.5,), [-0.5, 0.5, 1.0, nan], [0.0, 0.0, 1.0, nan], [0.0, 0.0, 1.0, 1.0]),
        ("softshrink", (0.5,), [-0.5, 0.5, -1.0, nan], [0.0, 0.0, -0.5, nan], [0.0, 0.0, 1.0, 1.0]),
        ("threshold", (0.5, 7.0), [0.5, 1.0, nan], [7.0, 1.0, nan], [0.0, 1.0, 1.0]),
        ("softsign", (), [0.0], [0.0], [1.0]),
        ("gelu", (), [0.0], [0.0], [0.5]),
        ("silu", (), [0.0], [0.0], [0.5]),
        ("logsigmoid", (), [-800.0], [-800.0], [1.0]),
    ],
)
def test_kinks(
    slopes: Any,
    value: Any,
    name: str,
    parameters: tuple[float, ...],
    points: list[float],
    values: list[float],
    expected: list[float],
) -> None:
    """At kinks, and at nan, the value and the derivative are PyTorch's."""
    function = lambda x: TABLE[name](x, *parameters)
    assert value(function(as_node(np.array(points)))) == pytest.approx(values, rel=1e-15, nan_ok=True)
    assert slopes(function, points)[0] == pytest.approx(expected, rel=1e-15, nan_ok=True)


def test_softplus_threshold(derivatives: Any) -> None:
    """A threshold below 20 draws PyTorch's straight line above it; from 20 on the function stays smooth."""
    bent = lambda x: make.softplus(x, beta=2.0, threshold=3.0)
    assert derivatives(bent, 1.6, 2) == [1.6, 1.0, 0.0]
    assert derivatives(bent, 1.5, 1) == pytest.approx([1.524293675786871, 0.9525741268224333], rel=1e-15)
    assert derivatives(make.softplus, 25.0, 2)[2] == pytest.approx(math.exp(-25.0), rel=1e-10)
    assert bent(leaf(1.0, requires_grad=True)).grad_fn == "SoftplusBackward0"


@pytest.mark.parametrize("x", [1e200, -1e200])
def test_gelu_of_the_huge(derivatives: Any, x: float) -> None:
    """Where the inner polynomial overflows, the slope of gelu is that of a straight line and not nan."""
    for function in (make.gelu, lambda x: make.gelu(x, approximate="tanh")):
        assert derivatives(function, x, 1) == [max(x, 0.0), float(x > 0)]


def test_prelu(slopes: Any) -> None:
    """The weight gets the arguments that are not positive; at 0 the slope is the weight."""
    assert slopes(make.prelu, [-2.0, 0.0, 3.0], [0.25]) == [[0.25, 0.25, 1.0], [-2.0]]


def test_prelu_channels(slopes: Any) -> None:
    """Several weights belong to axis 1."""
    x = -np.ones((2, 3, 2))
    assert slopes(make.prelu, x, [1.0, 2.0, 3.0])[1] == [-4.0, -4.0, -4.0]
    assert slopes(make.prelu, x, [1.0, 2.0, 3.0])[0][0] == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]


def test_glu(slopes: Any) -> None:
    """glu gates its first half by its second, along any axis."""
    gate = 1 / (1 + math.exp(-2.0))
    assert slopes(make.glu, [3.0, 2.0])[0] == pytest.approx([gate, 3 * gate * (1 - gate)], rel=1e-14)
    assert slopes(lambda x: make.glu(x, dim=0), [[3.0], [2.0]])[0] == [
        [pytest.approx(gate)],
        [pytest.approx(0.3149808)],
    ]


def _ones(*shape: int) -> Node:
    return as_node(np.ones(shape))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: make.glu(_ones(3)), ShapeError),
        (lambda: make.glu(_ones()), ShapeError),
        (lambda: make.glu(_ones(4), dim=1), InputError),
        (lambda: make.prelu(_ones(2, 3), _ones(2)), ShapeError),
        (lambda: make.gelu(_ones(2), approximate="erf"), InputError),
        (lambda: make.celu(_ones(2), 0.0), InputError),
        (lambda: make.rrelu(_ones(2), training=True), InputError),
    ],
)
def test_bad_arguments(call: Any, error: type[InputError]) -> None:
    """Shapes and parameters that make no sense are refused."""
    with pytest.raises(error):
        call()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("relu6", "HardtanhBackward0"),
        ("selu", "EluBackward0"),
        ("celu", "CeluBackward0"),
        ("softsign", "DivBackward0"),
        ("tanhshrink", "SubBackward0"),
        ("rrelu", "RreluWithNoiseBackward0"),
    ],
)
def test_borrowed_names(name: str, expected: str) -> None:
    """An activation that PyTorch makes of another one carries the other's grad_fn."""
    assert TABLE[name](leaf(np.ones(2), requires_grad=True)).grad_fn == expected


def test_rrelu_draws_its_slopes_in_training() -> None:
    """Each negative element is multiplied by a number of NumPy's stream between lower and upper, others by 1."""
    x = leaf(np.array([-1.0, 2.0, -3.0]), requires_grad=True)
    result = make.rrelu(x, 0.1, 0.3, training=True, seed=5)
    noise = np.random.default_rng(5).uniform(0.1, 0.3, 3)
    assert evaluate([result])[result].tolist() == [-noise[0], 2.0, -3.0 * noise[2]]
    assert result.grad_fn == "RreluWithNoiseBackward0"
    gradient = gradients([result], [leaf(np.ones(3))])[x]
    assert evaluate([gradient])[gradient].tolist() == [noise[0], 1.0, noise[2]]


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (lambda: make.softplus(leaf(1e308), beta=10.0), 1e308),
        (lambda: make.softplus(leaf(-1e308), beta=-10.0), -1e308),
        (lambda: make.softplus(leaf(2.0), beta=-1.0), -math.log1p(math.exp(-2.0))),
        (lambda: make.hardswish(leaf(1.7e308)), 1.7e308),
        (lambda: make.hardswish(leaf(2.0)), 10.0 / 6.0),
        (lambda: make.hardswish(leaf(-1.7e308)), 0.0),
    ],
)
def test_no_step_of_a_value_overflows(node: Any, expected: float) -> None:
    """Where the value is in range, so is all that it is computed by."""
    made = node()
    assert float(evaluate([made])[made]) == pytest.approx(expected, rel=1e-15)
