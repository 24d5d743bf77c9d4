"""Planted wrong rules: each is caught by each referee alone, and the search by nodes blames the right op."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agrad.engine import gradient
from agrad.engine.errors import Source
from agrad.engine.graph import TABLE, Op, ancestors, leaf, make
from agrad.engine.language import build
from agrad.engine.referees import Case, Judgement, Referees, differences, precise, symbolic
from agrad.engine.referees.alone import op_cases, packed, unpacked
from agrad.engine.referees.blame import Wrong, examined
from agrad.engine.run.cpu import evaluate
from agrad.engine.worker.budget import Budget

from .planted import PLANTS, Plant

REFEREES = {referee.NAME: referee for referee in (precise, symbolic, differences)}
MakeCase = Callable[..., Case]


def wrong_row(plant: Plant, right: Op) -> Op:
    """The row with the planted rule in it."""
    if plant.slopes is not None:
        return dataclasses.replace(right, slopes=plant.slopes, rule=None)
    rule = plant.rule
    assert rule is not None
    return dataclasses.replace(right, slopes=None, rule=lambda node, g: rule(right, node, g))


def case_of(plant: Plant, monkeypatch: pytest.MonkeyPatch | None) -> Case:
    """The gradient of the plant's formula by its wrong rule; by the right one where nothing may be patched."""
    inputs = {name: np.asarray(value) for name, value in plant.inputs.items()}
    formulas = build(Source(f"z = {plant.text}"), inputs=inputs, wrt=list(inputs))
    output = formulas.names["z"]
    if monkeypatch is not None:
        right = TABLE[plant.op]
        wrong = wrong_row(plant, right)
        monkeypatch.setitem(TABLE, plant.op, wrong)
        for node in ancestors([output]):
            if node.op is right:
                node.op = wrong
    return graded([output], dict(formulas.wrt))


def graded(outputs: list[Any], wrt: dict[str, Any]) -> Case:
    """The gradient of outputs with cotangents of one."""
    cotangents = [np.ones(output.shape)[()] for output in outputs]
    found = gradient.gradients(outputs, [leaf(cotangent) for cotangent in cotangents])
    values = evaluate([found[node] for node in wrt.values() if node in found])
    return Case(outputs, cotangents, wrt, {name: values[found[n]] for name, n in wrt.items() if n in found})


def judged(name: str, case: Case) -> Judgement:
    """What a referee says by itself."""
    return REFEREES[name].judge(case, Budget(seconds=20.0))


def blamed(case: Case) -> tuple[str, Wrong] | None:
    """The op that is to blame, found over plain data, as the referees' process gets it."""
    pairs = [(node, unpacked(packed(op_case))) for node, op_case in op_cases(case) if op_case is not None]
    wrong = examined([op_case for _, op_case in pairs], Budget(seconds=20.0), case).wrong
    return None if wrong is None else (pairs[wrong.position][0].op.name, wrong)


def parameters() -> list[Any]:
    """Each plant under its name."""
    return [pytest.param(plant, id=f"{plant.op}: {plant.name}") for plant in PLANTS]


def test_there_are_thirty_and_more() -> None:
    """All kinds of mistakes are among them, each on an op of its own or in its own way."""
    assert len({(plant.op, plant.name) for plant in PLANTS}) == len(PLANTS) >= 30
    assert len({plant.op for plant in PLANTS}) >= 30


@pytest.mark.parametrize("plant", parameters())
def test_each_referee_objects_and_the_op_is_blamed(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    """The right rule is objected to by nobody, the wrong one by everybody who can judge, and blamed on its op."""
    right = case_of(plant, None)
    assert all(judged(name, right).verdict != "disagree" for name in REFEREES)
    assert blamed(right) is None
    case = case_of(plant, monkeypatch)
    found = {name: judged(name, case) for name in REFEREES}
    for name, judgement in found.items():
        wanted = "cannot judge" if name in plant.blind else "disagree"
        assert judgement.verdict == wanted, judgement
        assert judgement.reason
    op, wrong = blamed(case) or ("", None)
    assert op == plant.op
    assert wrong is not None
    assert (wrong.fault, wrong.argument) == ("rule", plant.argument)
    assert "not" in wrong.reason or "outside" in wrong.reason


def test_a_broadcast_that_is_not_summed_up_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """What undoes broadcasting is no row; the op whose argument was spread out is blamed."""
    inputs = {"x": np.array([0.3, 1.2, -0.7]), "b": np.array(0.4)}
    formulas = build(Source("z = sum((x * b) ** 2)"), inputs=inputs, wrt=["x", "b"])

    def first_only(g: Any, shape: tuple[int, ...]) -> Any:
        return g if g.shape == shape else make.select(g, 0, 0)

    monkeypatch.setattr(gradient, "sum_to", first_only)
    case = graded([formulas.names["z"]], dict(formulas.wrt))
    assert {name: judged(name, case).verdict for name in REFEREES} == dict.fromkeys(REFEREES, "disagree")
    op, wrong = blamed(case) or ("", None)
    assert op == "mul"
    assert wrong is not None
    assert wrong.argument == 1


KERNELS: list[tuple[str, str, Callable[..., Any]]] = [
    ("sin", "sum(sin(x) * y)", lambda xp, x: xp.sin(x) * (1 + 1e-5)),
    ("cumsum", "sum(exp(cumsum(x, 0)))", lambda xp, x, dim: xp.cumsum(x, dim[0]) + x),
    ("lt", "sum(where(x < y, x * y, y**2))", lambda xp, x, y: xp.greater(x, y)),
    ("sigmoid", "sum(sigmoid(x - 30.0) ** 2)", lambda xp, x: 1 - 1 / (1 + xp.exp(x))),
]


@pytest.mark.parametrize(("name", "text", "kernel"), KERNELS)
def test_a_wrong_kernel_is_blamed_too(
    name: str, text: str, kernel: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A right rule over wrong values gives a wrong gradient, and the value is what is told."""
    inputs = {"x": np.array([0.3, 1.2, -0.7]), "y": np.array([1.7, 0.4, 0.9])}
    names = [leaf_name for leaf_name in inputs if leaf_name in text.replace("exp", "")]
    formulas = build(Source(f"z = {text}"), inputs={n: inputs[n] for n in names}, wrt=names)
    right = TABLE[name]
    wrong_kernel = dataclasses.replace(right, kernel=kernel)
    monkeypatch.setitem(TABLE, name, wrong_kernel)
    for node in ancestors([formulas.names["z"]]):
        if node.op is right:
            node.op = wrong_kernel
    case = graded([formulas.names["z"]], dict(formulas.wrt))
    assert judged("mpmath", case).verdict == "disagree"
    op, wrong = blamed(case) or ("", None)
    assert op == name
    assert wrong is not None
    assert (wrong.fault, wrong.argument) == ("value", None)
    assert wrong.reason.startswith("its value is ")


def test_the_whole_check_names_the_op(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also over the referees' process, which knows nothing of the planted rule; and where only differences judge."""
    plant = next(plant for plant in PLANTS if plant.op == "sqrt")
    case = case_of(plant, monkeypatch)
    with Referees(names=("sympy", "mpmath", "differences")) as referees:
        found = referees.check(case)
        assert [judgement.verdict for judgement in found.referees] == ["disagree"] * 3
        assert found.blame is not None
        assert (found.blame.op, found.blame.fault, found.blame.argument) == ("sqrt", "rule", 0)
        assert found.blame.node.span is not None
    monkeypatch.undo()
    large = case_of(dataclasses.replace(plant, inputs={"x": np.linspace(1.0, 2.0, 1_500)}), monkeypatch)
    with Referees(operations=2_000) as referees:
        found = referees.check(large)
        assert [judgement.name for judgement in found.referees] == ["differences"]
        assert found.verdict == "disagree"
        assert found.blame is not None
        assert found.blame.op == "sqrt"
