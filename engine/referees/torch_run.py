"""A graph run by PyTorch: values, gradients by autograd, and what is known of where PyTorch's numbers are no good."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..graph import LEAF, Node, ancestors
from ..ops.departures import DEPARTURES
from ..run.cpu import run as forward
from ..run.plan import make_plan
from ..worker.budget import Budget
from .case import CannotJudge, Case
from .digits import Entry
from .torch_calls import call_of

_SEEDS: Final = 4
_ULPS: Final = 4
"""How far the leaves are moved, in units of rounding, to see how many digits PyTorch's number has."""
_WIDE: Final = 1e-6
"""A step that leaves a kink."""
_WIDE_ROOM: Final = 1e-4
_NEAR: Final = 1e-4
"""Below it the quotient in PyTorch's derivative of sinc cancels."""
_FREE: Final = {"linalg.eig": (1,), "linalg.eigh": (1,), "linalg.svd": (0, 2), "qr.tall": (0, 1)}
"""Which results of ops may be multiplied by a number of size 1, row by row or column by column."""
_SINGLE: Final = 6
"""Digits that single precision leaves."""
_SAME: Final = 1e-6
_ELSEWHERE: Final = frozenset({"log", "mul"})
"""Ops that depart at points of some kinds only, which are not told apart here."""


def departure(op: str) -> str:
    """Why agrad departs from PyTorch for an op; empty where it does not."""
    why = [row.why for row in DEPARTURES if row.op == op and op not in _ELSEWHERE]
    return f" (agrad's departure: {why[0]})" if why else ""


class Run:
    """One run of a graph in PyTorch.

    Args:
        torch: the module.
        case: whose graph.
        budget: what may be spent.
        moved: where it is given, a step, relative to 1 and to each number; and a seed: the leaves that are
            differentiated by are moved by so much at random.
    """

    def __init__(self, torch: Any, case: Case, budget: Budget, moved: tuple[float, int] | None = None) -> None:
        self.torch = torch
        self._case = case
        self._budget = budget
        self._step, seed = moved or (0.0, 0)
        self._random = np.random.default_rng(seed)
        self.nodes = ancestors([*case.outputs, *case.wrt.values()])
        self._wrt = set(case.wrt.values())
        self._leaves = {node for node in self._wrt if not node.args}
        kinds = [node.dtype for node in self._wrt]
        self.real_dtype = np.float32 if any(kind in (np.float32, np.complex64) for kind in kinds) else np.float64
        self.values: dict[Node, Any] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for node in self.nodes:
                budget.spend()
                self.values[node] = self._value(node)
        self._slopes: Mapping[Node, Any] | None = None

    def _value(self, node: Node) -> Any:
        if node.op is not LEAF:
            value = call_of(self.torch, node, [self.values[arg] for arg in node.args])
            if node.op.outputs == 1 and tuple(value.shape) != node.shape:
                raise CannotJudge(f"PyTorch's {node.op.name} has shape {list(value.shape)}, not {list(node.shape)}")
            return value
        array = np.array(node.value, dtype=node.dtype)
        if self._step and node in self._leaves:
            array = array + self._random.uniform(-1, 1, array.shape) * self._step * self._scale(array)
        tensor = self.torch.as_tensor(np.asarray(array, node.dtype).reshape(node.shape).copy())
        if node in self._leaves:
            tensor.requires_grad_(True)
        return tensor

    def _scale(self, array: Any) -> Any:
        """How large a step of 1 is for each entry: as the entry, and for large steps as 1 at least."""
        return np.maximum(np.abs(array), 1.0) if self._step >= _WIDE else np.abs(array)

    def _all_slopes(self) -> Mapping[Node, Any]:
        """The gradient by every node that autograd knows, in one pass."""
        if self._slopes is None:
            torch = self.torch
            pairs = [
                (
                    self.values[output],
                    torch.as_tensor(np.array(weight, dtype=output.dtype).reshape(output.shape).copy()),
                )
                for output, weight in zip(self._case.outputs, self._case.cotangents, strict=True)
            ]
            pairs = [(value, weight) for value, weight in pairs if value.requires_grad]
            known = [node for node in self.nodes if getattr(self.values[node], "requires_grad", False)]
            if not pairs or not known:
                self._slopes = {}
            else:
                found = torch.autograd.grad(
                    [value for value, _ in pairs],
                    [self.values[node] for node in known],
                    [weight for _, weight in pairs],
                    allow_unused=True,
                )
                self._slopes = {node: g for node, g in zip(known, found, strict=True) if g is not None}
        return self._slopes

    def gradients(self) -> dict[str, Any]:
        """The gradient of each name, as an array; zeros where nothing flows."""
        slopes = self._all_slopes()
        return {
            name: slopes[node].numpy(force=True) if node in slopes else np.zeros(node.shape, node.dtype)
            for name, node in self._case.wrt.items()
        }

    def first_beyond(self) -> tuple[Node, str] | None:
        """The first node that is not finite though its arguments are, and what it is."""
        for node in self.nodes:
            if node.args and not self._is_finite(node) and all(self._is_finite(arg) for arg in node.args):
                return node, "nan" if bool(self.torch.isnan(self.values[node]).any()) else "an infinity"
        return None

    def _is_finite(self, node: Node) -> bool:
        value = self.values[node]
        return isinstance(value, tuple) or bool(self.torch.isfinite(value).all())

    def first_other_choice(self) -> str:
        """The first op whose result is free (the sign of an eigenvector), is used, and is another one than agrad's."""
        slopes = self._all_slopes()
        for taken in self.nodes:
            if taken.op.name != "output" or taken.attrs["index"] not in _FREE.get(taken.args[0].op.name, ()):
                continue
            if taken in slopes and bool((slopes[taken] != 0).any()):
                own = forward(make_plan([taken]))[taken]
                theirs = self.values[taken].numpy(force=True)
                if not np.allclose(own, theirs, rtol=_SAME, atol=_SAME * float(np.max(np.abs(theirs), initial=0.0))):
                    return taken.args[0].op.name
        return ""

    def noise(self, entries: Sequence[Entry]) -> dict[str, float]:
        """How far PyTorch's numbers move as the leaves are moved by some units of rounding."""
        step = _ULPS * float(np.finfo(self.real_dtype).eps)
        around = self._around(entries, step)
        return {
            entry.label: max(abs(number - complex(entry.true)) if number == number else np.inf for number in numbers)
            for entry, numbers in zip(entries, around, strict=True)
        }

    def is_between(self, entries: Sequence[Entry]) -> bool:
        """Whether agrad's numbers lie between those that PyTorch has around the point, as they may at a kink."""
        for entry, numbers in zip(entries, self._around(entries, _WIDE), strict=True):
            for got, found in (
                (complex(entry.got).real, [number.real for number in numbers]),
                (complex(entry.got).imag, [number.imag for number in numbers]),
            ):
                low, high = min(found), max(found)
                room = _WIDE_ROOM * max(abs(low), abs(high), abs(got))
                if not low - room <= got <= high + room:
                    return False
        return True

    def _around(self, entries: Sequence[Entry], step: float) -> list[list[complex]]:
        """PyTorch's numbers for some entries at a few points nearby."""
        runs = [Run(self.torch, self._case, self._budget, (step, seed)).gradients() for seed in range(_SEEDS)]
        return [[complex(run[entry.name][entry.index].item()) for run in runs] for entry in entries]

    def largest_gradient(self) -> float:
        """The largest finite gradient inside of the graph."""
        arrays = [slope.abs().numpy(force=True) for slope in self._all_slopes().values()]
        return max((float(np.max(array, initial=0.0, where=np.isfinite(array))) for array in arrays), default=0.0)

    def where_nan(self) -> str:
        """In which op's backward a NaN first comes up, and why agrad has none there, if that is known."""
        slopes = self._all_slopes()
        for node in reversed(self.nodes):
            received = slopes.get(node)
            if received is None or bool(self.torch.isnan(received).any()):
                continue
            if any(arg in slopes and bool(self.torch.isnan(slopes[arg]).any()) for arg in node.args):
                if not departure(node.op.name) and bool((received == 0).any()):
                    return f": zero times an infinite slope of {node.op.name}; with agrad zero means stop"
                return f", in {node.op.name}{departure(node.op.name)}"
        return ""

    def kink(self) -> str:
        """The first op that stands on a kink; or none."""
        for node in self.nodes:
            test = node.op.at_kink
            if test is not None and node.op.outputs == 1:
                args = [self.values[arg].numpy(force=True) for arg in node.args]
                with np.errstate(all="ignore"):
                    if bool(np.any(test(np, *args, **node.attrs))):
                        return node.op.name
        return ""

    def extreme(self) -> str:
        """A number on the way whose square is out of range, so that PyTorch's rules lose it; or none."""
        for node in self.nodes:
            if node.dtype.kind in "fc" and not isinstance(self.values[node], tuple):
                sizes = np.abs(self.values[node].numpy(force=True)).ravel()
                limits = np.finfo(sizes.dtype)
                small, large = sizes.dtype.type(limits.tiny) ** 0.5, sizes.dtype.type(limits.max) ** 0.5
                beyond = sizes[np.isfinite(sizes) & (((sizes > 0) & (sizes < small)) | (sizes > large))]
                if beyond.size:
                    return f"the square of {float(beyond[0]):.1g} is out of range, and PyTorch's rules use squares"
        return ""

    def known_fault(self, objections: Sequence[Entry]) -> str:
        """Where PyTorch's own derivative is known to be wrong at this point, and as wrong as it is; or nothing."""
        torch = self.torch
        slight = min(entry.digits for entry in objections) >= _SINGLE
        for node in self.nodes:
            args = [self.values[arg] for arg in node.args]
            if node.op.name == "hardsigmoid" and slight:
                return "PyTorch's derivative of hardsigmoid has the digits of single precision"
            if node.op.name == "sinc" and bool((args[0].abs() < _NEAR).any()):
                return f"PyTorch's derivative of sinc cancels near 0{departure('sinc')}"
            if node.op.name == "det":
                ranks = torch.linalg.matrix_rank(args[0].detach())
                if bool((ranks < args[0].shape[-1]).any()):
                    return f"PyTorch's det has no derivative at singular matrices{departure('det')}"
            if node.op.name == "scatter":
                ordered = torch.sort(args[2], dim=node.attrs["axis"]).values
                within = set(ancestors([node.args[1]]))
                concerned = all(self._case.wrt[entry.name] in within for entry in objections)
                if concerned and bool((torch.diff(ordered, dim=node.attrs["axis"]) == 0).any()):
                    return "an index of scatter stands twice, and PyTorch's gradient counts both"
        return ""
