"""Integers of every size wherever a call or an index takes one: a value or an error in words, and soon."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.errors import AgradError, InputError, LimitError, Source
from agrad.engine.evaluation.evaluate import evaluate
from agrad.engine.evaluation.outputs import Weight
from agrad.engine.graph import TABLE, Op, node
from agrad.engine.language import build
from agrad.engine.language.signatures import signature
from agrad.engine.worker.budget import Budget
from agrad.engine.worker.interrupt import interrupted

VALUES: Final = ("0", "-1", "2**31", "2**63", "10**30", "-(10**30)")
SECONDS: Final = 5.0
_INTEGER: Final = re.compile(r"(?<![\w.])-?\d+(?![\w.])")
_INPUT: Final = re.compile(r"(?<![\w.'\"])[A-Za-z](?![\w('\"]|\s*=)")


def run(text: str, inputs: dict[str, Any]) -> Any:
    """The value of the last name of a text, computed with its gradients within `SECONDS`."""
    with interrupted(Budget(1, SECONDS)), np.errstate(all="ignore"):
        formulas = build(Source(text + "\n"), inputs=inputs)
        node = formulas.bindings[-1].node
        weights = [] if node.size == 1 else [Weight("z", None)]
        return evaluate(formulas, {"z": node}, weights).values[node]


def calls(op: Op) -> Iterator[tuple[str, dict[str, tuple[int, ...]]]]:
    """An example of a row and one of its forms, with the shapes of the names in it."""
    for example in op.examples[:1]:
        yield example.form, dict(example.inputs)
    for form in op.forms[-1:]:
        yield form, dict.fromkeys(_INPUT.findall(form), (3,))


def with_integers(op: Op, call: str) -> Iterator[str]:
    """The call with a large integer, or a small one, in each place that may take one; another at each."""
    place = len(op.name)
    for found in _INTEGER.finditer(call):
        yield f"{call[: found.start()]}({VALUES[place % len(VALUES)]}){call[found.end() :]}"
        place += 1
    if not call.endswith(")"):
        return
    for parameter in signature(op).parameters:
        if parameter.name in call or parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            continue
        if {int, float} & set(parameter.types) or parameter.place or parameter.listed:
            value = VALUES[place % len(VALUES)]
            yield f"{call[:-1]}, {parameter.name}={value})"
            place += 1
            if parameter.listed:
                yield f"{call[:-1]}, {parameter.name}=[{value}, {value}])"


ROWS: Final = [op for op in dict.fromkeys(TABLE.values()) if op.forms]


@pytest.mark.parametrize("part", range(4))
def test_every_row_answers_every_integer(monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    """No row crashes, hangs or fills the memory for an integer: it gives a value or says what is wrong."""
    monkeypatch.setattr(node, "LARGEST", 2**20)
    random = np.random.default_rng(0)
    tried = answered = 0
    for op in ROWS[part::4]:
        for call, shapes in calls(op):
            inputs = {name: 0.3 + 0.4 * random.random(shape) for name, shape in shapes.items()}
            for text in with_integers(op, call):
                tried += 1
                try:
                    run(f"z = {text}", inputs)
                    answered += 1
                except AgradError:
                    continue
                except Exception as fault:  # whatever it is, it says of which call it is
                    raise AssertionError(f"{text}: {type(fault).__name__}: {fault}") from fault
    assert tried > 150
    assert answered > 20


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x ** 10**30", np.inf),
        ("(x/4) ** 2**64", 0.0),
        ("pow(x, 10**100)", np.inf),
        ("x * 10**30 / 10**30", 2.0),
        ("-(2**63) + x", 2.0 - 2**63),
        ("round(x, decimals=2**31)", 2.0),
        ("round(x, decimals=400)", 2.0),
        ("round(x, decimals=-400)", 0.0),
        ("diff([x, x], 10**9).sum()", 0.0),
        ("tril([[x, x], [x, x]], 2**40).sum()", 8.0),
        ("stack([x, x])[0:10**30].sum()", 4.0),
        ("stack([x, x])[-10**30:].sum()", 4.0),
        ("stack([x, x])[::10**30].sum()", 2.0),
        ("x + 0*torch.tensor([2**63, 1]).sum()", 2.0),
        ("x * torch.tensor(10**30)", 2e30),
        ("clamp(x, 10**30, 10**40)", 1e30),
        ("x + (10**30 if x > 10**30 else 1)", 3.0),
    ],
)
def test_large_integers_are_numbers(text: str, value: float) -> None:
    """An integer that no tensor of integers holds is the float that it is, and beyond the end is the end."""
    assert run(f"z = {text}", {"x": 2.0}) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("decimals", [-(2**31), -400, 308, 320, 400, 2**31, 2**62])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rounding_has_no_slope_whatever_the_decimals(decimals: int, dtype: str) -> None:
    """A rounding is flat, and more decimals than a float has leave its value."""
    formulas = build(Source(f"z = round(x, decimals={decimals})\n"), inputs={"x": 3.7}, dtype=np.dtype(dtype))
    with np.errstate(all="ignore"):
        found = evaluate(formulas, {"z": formulas.names["z"]}, [])
    assert found.gradient("x") == 0
    assert found.values[formulas.names["z"]] == (np.dtype(dtype).type(3.7) if decimals > 0 else 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tril([[x, x], [x, x]], 10**30).sum()", "diagonal of tril is too large"),
        ("round(x, decimals=10**30)", "decimals of round is too large"),
        ("[x, x][10**30]", "an index is too large"),
        ("reshape(x, [10**30, -1]).sum()", "sizes of reshape is too large"),
        ("F.max_pool1d(stack([[x, x]]), 2, stride=10**30).sum()", "stride: an integer is too large"),
        ("erfcx_derivative(x, -1)", "must lie between 0 and 100"),
        ("sinc_derivative(x, 2**31)", "must lie between 0 and 100"),
        ("x + torch.tensor([1, 2**63], dtype=torch.int64).sum()", "an integer is too large"),
        ("x + torch.tensor(10**30, dtype=torch.int64)", "an integer is too large"),
        ("diff([x, x], -1).sum()", "order must be non-negative"),
    ],
)
def test_an_integer_too_large_is_said_to_be(text: str, said: str) -> None:
    """The error names the argument and stands at it."""
    with pytest.raises(InputError, match=said) as caught:
        run(f"z = {text}", {"x": 2.0})
    assert caught.value.spans


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("F.affine_grid(stack([[[x, x, x], [x, x, x]]]), (1, 1, 2, 2**31)).sum()", "affine_grid would make"),
        (
            "F.conv1d(stack([[x, x]]), stack([[[x, x]]]), padding='same', dilation=2**40).sum()",
            "the padding would make",
        ),
        ("mvlgamma(x, 2**31)", "too many terms"),
        ("zeros(10**12).sum() + x", "8,000 GB"),
        ("eye(10**6).sum() + x", "8,000 GB"),
        ("linspace(0, 1, 10**10).sum() + x", "80 GB"),
        ("x.repeat(10**10).sum()", "limit|would"),
        ("x.expand(10**10).sum()", "limit|would"),
        ("tile(x, 10**10).sum()", "limit|would"),
        ("arange(10**10).sum() + x", "80 GB"),
    ],
)
def test_what_would_fill_the_memory_is_refused(text: str, said: str) -> None:
    """The estimate is told before anything is allocated."""
    with pytest.raises(LimitError, match=said):
        run(f"z = {text}", {"x": 2.0})


@pytest.mark.parametrize("text", ["i = 10**30\nz = [x, x][i]", "i = [10**30]\nz = [x, x][i].sum()"])
def test_a_name_of_a_large_integer_is_no_index(text: str) -> None:
    """A float that is written as an integer never wraps to another one."""
    with pytest.raises(LimitError, match="an integer is too large"):
        run(text, {"x": 2.0})


@pytest.mark.parametrize("number", [2**63, 2**64, -(10**30)])
def test_a_large_integer_is_given_as_a_float(number: int) -> None:
    """A value from outside that no tensor of integers holds is a float, and an unsigned array is refused."""
    assert run("z = 2*x", {"x": number}) == 2.0 * number
    with pytest.raises(InputError, match="beyond 2"):
        run("z = 2*x.sum()", {"x": np.array([1, 2**63], np.uint64)})
