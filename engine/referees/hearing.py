"""The exact referees asked about one case, one after another, and the precise one again where they do not agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from ..graph import ancestors
from ..worker.budget import Budget
from ..worker.serving import told
from . import differences, precise, symbolic
from .case import AGREE, CANNOT, DISAGREE, KINK, Case, Judgement, Verdict
from .facts import Facts
from .forward import cost_of

_FINER: Final = 2
"""How many times as many digits the second question takes."""
_SHARE: Final = 0.5
_ALONE: Final = 0.8
"""The part of the time that mpmath's first judgement may take."""
_SYMBOLIC_OPERATIONS: Final = 4_000
_SYMBOLIC_ENTRIES: Final = 200
_LARGEST_GRAPH: Final = 100_000
_SAYING: Final[frozenset[Verdict]] = frozenset({AGREE, DISAGREE, KINK})


def heard(case: Case, names: Sequence[str], budget: Budget, *, directions: bool = False) -> Iterator[Judgement]:
    """A judgement of each referee; a later one of the same name takes the place of an earlier one.

    Where one objects, or they differ, mpmath is asked again with twice the digits; where it then finds agrad right, an
    objection of SymPy's does not count.

    Args:
        case: the case.
        names: whom to ask, in order: mpmath first lets SymPy know of the point.
        budget: what all may spend together; of the time, mpmath takes half where SymPy is to be asked too.
        directions: let mpmath look along random directions only.
    """
    said: dict[str, Judgement] = {}
    facts = Facts()
    for name in names:
        if name == precise.NAME:
            part = Budget(budget.operations, budget.seconds_left * (_SHARE if len(names) > 1 else _ALONE))
            said[name] = _said(name, partial(precise.judge, case, part, facts, directions=directions))
        else:
            whole = Budget(budget.operations, budget.seconds_left)
            said[name] = _said(name, partial(symbolic.judge, case, whole, facts))
        yield said[name]
    if precise.NAME in names and _differ(said):
        fresh = Budget(budget.operations, budget.seconds_left / 2)
        finer = partial(precise.judge, case, fresh, Facts(), directions=directions, finer=_FINER)
        again = _said(precise.NAME, finer)
        yield from _settled(said, again)


def suited(case: Case, operations: int, referees: Sequence[str]) -> tuple[list[str], bool]:
    """The referees whose budget a case fits, and whether mpmath is to look along random directions only.

    Differences stand for the others where none fits, and beside them where they are asked for.
    """
    nodes = ancestors([*case.outputs, *case.wrt.values()])
    if len(nodes) > _LARGEST_GRAPH or sum(node.size for node in nodes) > operations:
        return [differences.NAME], False
    once = sum(cost_of(node) for node in nodes)
    entries = sum(node.size for node in case.wrt.values())
    chosen = []
    if symbolic.NAME in referees and once <= _SYMBOLIC_OPERATIONS and entries <= _SYMBOLIC_ENTRIES:
        chosen.append(symbolic.NAME)
    directions = precise.cost(case, nodes) > operations
    if precise.NAME in referees and once * 2 * precise.DIRECTIONS <= operations:
        chosen.append(precise.NAME)
    if not chosen or differences.NAME in referees:
        chosen.append(differences.NAME)
    return chosen, directions


def _said(name: str, judge: Callable[[], Judgement]) -> Judgement:
    """A referee's judgement; whatever goes wrong in it, memory aside, is its reason."""
    try:
        return judge()
    except MemoryError:
        raise
    except Exception as error:  # a referee that fails has no say
        return Judgement(name, CANNOT, None, told(error)["error"])


def _differ(said: Mapping[str, Judgement]) -> bool:
    verdicts = {judgement.verdict for judgement in said.values()} & _SAYING
    return DISAGREE in verdicts or len(verdicts) > 1


def _settled(said: Mapping[str, Judgement], again: Judgement) -> Iterator[Judgement]:
    """What is to be said anew once mpmath has looked again."""
    first, other = said[precise.NAME], said.get(symbolic.NAME)
    # Where there was no time for another look the first one stands.
    last = again if again.verdict in _SAYING else first
    if last.verdict != first.verdict:
        yield replace(last, reason=_with(last.reason, "with twice the digits"))
    if other is not None and other.verdict == DISAGREE and last.verdict in (AGREE, KINK):
        yield replace(other, verdict=CANNOT, reason=_with(other.reason, "mpmath does not find so, with many digits"))


def _with(reason: str | None, words: str) -> str:
    return f"{reason}; {words}" if reason else words
