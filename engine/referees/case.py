"""What a referee is asked and what it answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from ..graph import Node

Verdict = Literal["agree", "disagree", "kink", "cannot judge", "skipped"]

AGREE: Final = "agree"
DISAGREE: Final = "disagree"
KINK: Final = "kink"
CANNOT: Final = "cannot judge"
SKIPPED: Final = "skipped"


@dataclass(frozen=True, slots=True)
class Case:
    """A gradient to be checked.

    Attributes:
        outputs: the nodes that were differentiated.
        cotangents: the weight of each output, of its shape.
        wrt: the nodes that the gradient is taken with respect to, by name.
        gradients: what agrad gives for each of them; a name that is absent has a gradient of zeros.
    """

    outputs: list[Node]
    cotangents: list[Any]
    wrt: dict[str, Node]
    gradients: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one referee says.

    Attributes:
        name: "sympy", "mpmath" or "differences".
        verdict: `agree`, `disagree`, `kink`, `cannot judge` or `skipped`.
        digits: how many digits are right in the worst entry; None where nothing was compared. See `digits.py`.
        reason: why, where the verdict alone does not say it.
        entry: the worst entry, as in `x[0, 1]`.
        forms: the closed form of derivatives, by the name of the leaf; only from sympy.
        entries: the right digits of each entry, by name, nested as the gradient, None at a kink; for gradients of at
            most `digits.LISTED` entries together.
    """

    name: str
    verdict: Verdict
    digits: int | None = None
    reason: str | None = None
    entry: str | None = None
    forms: Mapping[str, str] = field(default_factory=dict)
    entries: Mapping[str, Any] = field(default_factory=dict)


Fault = Literal["value", "rule"]
"""What is wrong with an op: the value of its kernel, or the derivative of its rule."""


@dataclass(frozen=True, slots=True)
class Blame:
    """The first op, from the leaves on, that differs from its own referee.

    Attributes:
        node: its node in the graph.
        fault: whether its value or its rule is wrong.
        argument: the position of the argument that the rule is wrong for; None for a value.
        reason: what it gives and what is right, in words.
    """

    node: Node
    fault: Fault
    argument: int | None
    reason: str

    @property
    def op(self) -> str:
        """The op's name."""
        return self.node.op.name


@dataclass(frozen=True, slots=True)
class Check:
    """What all referees say together.

    Attributes:
        verdict: one objection is an objection, a kink is a kink, one agreement suffices where nobody objects.
        referees: what each says.
        blame: where they disagree, the first op that is wrong by itself, if one is.
    """

    verdict: Verdict
    referees: list[Judgement]
    blame: Blame | None = None

    @classmethod
    def of(cls, referees: Iterable[Judgement]) -> Check:
        """The check of some judgements."""
        referees = list(referees)
        verdicts = {judgement.verdict for judgement in referees}
        order: tuple[Verdict, ...] = (DISAGREE, KINK, AGREE, CANNOT)
        return cls(next((verdict for verdict in order if verdict in verdicts), SKIPPED), referees)

    @property
    def entries(self) -> Mapping[str, Any]:
        """The right digits of each entry of the gradients, as mpmath has counted them, or else SymPy."""
        return next((judgement.entries for judgement in reversed(self.referees) if judgement.entries), {})


SKIPPED_CHECK: Final = Check(SKIPPED, [])
"""The check that was not asked for."""


class CannotJudge(Exception):  # noqa: N818  # no error: the referee's honest answer
    """A referee has no means to judge, for the reason given; it never leaves this package."""
