"""The backward run: from weighted results to leaves, node by node, as PyTorch's engine goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import AgradError
from ..gradient import add, collect, passed_on
from ..graph import LEAF, Node, ancestors, apply, make
from ..ops.infer import with_default_dtype
from . import anomaly, dispatch, dtypes, names
from .exceptions import as_python
from .function import SECOND_TIME, function_of
from .modes import State, Switch
from .record import Record, constant, value_of
from .saved import check_versions, forward_nodes, masked, renamed, with_saved_input

if TYPE_CHECKING:
    from .tensor import Tensor


class Run:
    """One backward run.

    Args:
        roots: the nodes that are differentiated, each with its cotangent.
        keep: whether what was saved stays for another run.
        create: whether the gradients can be differentiated again.
        targets: the nodes that gradients are wanted of; None for all leaves.
        accumulate: whether gradients are added to `.grad`.

    Attributes:
        captured: the gradients of the targets.
    """

    def __init__(
        self,
        roots: Sequence[tuple[Node, Node]],
        *,
        keep: bool,
        create: bool,
        targets: Sequence[Node] | None,
        accumulate: bool,
    ) -> None:
        self.keep = keep
        self.create = create
        self.accumulate = accumulate
        self.targets = None if targets is None else set(targets)
        self.captured: dict[Node, Node] = {}
        self._pending: dict[Node, Node] = {}
        self._parts: dict[Node, list[Node | None]] = {}
        self._order = [node for node in ancestors([root for root, _ in roots]) if node.requires_grad]
        self._runs = self._that_run()
        self._waiting = self._consumers()
        for root, cotangent in roots:
            add(self._pending, root, cotangent)

    def _that_run(self) -> set[Node]:
        """The nodes whose function runs: all that lead to a target."""
        if self.targets is None:
            return {node for node in self._order if node.op is not LEAF}
        reach = set()
        runs = set()
        for node in self._order:
            if any(arg in reach for arg in node.args):
                runs.add(node)
                reach.add(node)
            elif node in self.targets:
                reach.add(node)
                if self.accumulate and node.op is not LEAF:  # as PyTorch, which runs what it keeps a gradient of
                    runs.add(node)
        return runs

    def _consumers(self) -> dict[Node, int]:
        """For each leaf, how many functions may still add to its gradient."""
        waiting: dict[Node, int] = {}
        for node in self._order:
            if node in self._runs:
                for arg in node.args:
                    if arg.requires_grad and arg.op is LEAF:
                        waiting[arg] = waiting.get(arg, 0) + 1
        return waiting

    def go(self) -> None:
        """Run the functions, latest first; a leaf gets its gradient as soon as it is complete."""
        with Switch({"grad": self.create}), with_default_dtype(dtypes.default_float()), np.errstate(all="ignore"):
            try:
                for node in [root for root in self._pending if root.op is LEAF and root not in self._waiting]:
                    self._deliver(node)  # nothing else flows into it
                for node in reversed(self._order):
                    self._visit(node)
            except AgradError as error:
                raise as_python(error) from None

    def _visit(self, node: Node) -> None:
        if node.op is LEAF:
            self._deliver(node)
        elif node in self._runs:
            self._through(node)
            for arg in node.args:
                if arg in self._waiting:
                    self._waiting[arg] -= 1
                    if not self._waiting[arg]:
                        self._deliver(arg)
        elif self.targets is not None and node in self.targets:
            self._arrive(node)
        else:
            self._pending.pop(node, None)

    def _through(self, node: Node) -> None:
        """Run one node's function on what arrived."""
        received: Node | list[Node | None] | None
        if node.op.outputs > 1:
            received = self._parts.pop(node, None)
            if received is not None:
                received = [None if part is None else self._settled(part) for part in received]
        else:
            received = self._arrive(node)
        if received is None:
            return
        if node.op.name == "output":
            assert isinstance(received, Node)
            collect(self._parts, node, received)
            return
        received = self._before(node, received)
        found = self._passed_on(node, received)
        for arg, part in self._after(node, received, found):
            add(self._pending, arg, part)

    def _passed_on(self, node: Node, received: Node | list[Node | None]) -> list[tuple[Node, Node]]:
        record: Record = node.record if node.record is not None else Record()
        node.record = record
        custom = getattr(node.op.rule, "function_class", None) is not None
        if record.freed and record.saves and not custom:
            raise RuntimeError(SECOND_TIME)
        used = with_saved_input(node)
        found = masked(passed_on(used, received), node)
        if used is not node:
            found = [(node.args[0], part) for _, part in found]
        needed = forward_nodes([part for _, part in found], node)
        name = node.grad_fn or ""
        if record.version is None:  # inside of a composed function, which keeps its numbers plain
            needed = [other for other in needed if not other.is_number]
        record.saves = (bool(needed) or name in names.ALWAYS_SAVE) and name not in names.NEVER_SAVE
        if self.create:
            found = renamed(found, node, received)
        check_versions(node, needed)
        if not self.keep:
            record.freed = True
        if State.anomaly:
            self._look_for_nan(node, found)
        return found

    def _look_for_nan(self, node: Node, found: list[tuple[Node, Node]]) -> None:
        if not State.check_nan:
            return
        for place, (_, part) in enumerate(found):
            value = np.asarray(value_of(part, recorded=self.create))
            if value.dtype.kind in "fc" and np.isnan(value).any():
                name = function_of(node).name()
                anomaly.warn(node, name)
                raise RuntimeError(f"Function '{name}' returned nan values in its {place}th output.")

    # --- gradients on their way ----------------------------------------------------------------------------------

    def _settled(self, g: Node) -> Node:
        """A gradient with its value; without a past where it will not be differentiated again."""
        value = value_of(g, recorded=self.create)
        if self.create and g.requires_grad:
            return g
        return constant(np.asarray(value))

    def _tensor(self, g: Node) -> Tensor:
        return dispatch.tensor_class._of_node(g) if self.create else dispatch.tensor_class._made(np.asarray(g.value))

    def _arrive(self, node: Node) -> Node | None:
        """A node's complete gradient, after its tensor's hooks; kept where somebody wants it."""
        g = self._pending.pop(node, None)
        if g is None:
            return None
        g = self._settled(g)
        record: Record | None = node.record
        if record is not None:
            for hook in list(record.hooks.values()):
                g = self._hooked(g, hook)
            owner = record.owner
            if owner is not None and owner._retains and owner._node is node:
                self._retain(owner, g)
        if self.targets is not None and node in self.targets:
            self.captured[node] = g
        return g

    def _hooked(self, g: Node, hook: Callable[..., Any]) -> Node:
        answer = hook(self._tensor(g))
        if answer is None:
            return g
        if not isinstance(answer, dispatch.tensor_class):
            raise TypeError(f"expected Variable, but hook returned '{type(answer).__name__}'")
        if answer.shape != g.shape:
            raise RuntimeError(f"hook '{getattr(hook, '__name__', type(hook).__name__)}' has changed the size of value")
        return answer.node if self.create else constant(answer._array)

    def _retain(self, owner: Tensor, g: Node) -> None:
        own = self._tensor(g)
        owner._grad = own if owner._grad is None else owner._grad + own

    def _before(self, node: Node, received: Node | list[Node | None]) -> Node | list[Node | None]:
        """What arrived, after the hooks that run before the node's function."""
        function = node.record.function if node.record is not None else None
        if function is None or not function.prehooks:
            return received
        parts: list[Node | None] = list(received) if isinstance(received, list) else [received]
        for hook in list(function.prehooks.values()):
            answer = hook(tuple(None if part is None else self._tensor(part) for part in parts))
            if answer is not None:
                given = answer if isinstance(answer, tuple) else (answer,)
                parts = [None if part is None else part.node for part in given]
        if not isinstance(received, list):
            return received if parts[0] is None else parts[0]
        return list(parts)

    def _after(
        self, node: Node, received: Node | list[Node | None], found: list[tuple[Node, Node]]
    ) -> list[tuple[Node, Node]]:
        """What is passed on, after the hooks that run after the node's function."""
        function = node.record.function
        if function is None or not function.posthooks:
            return found
        settled = [(arg, self._settled(part)) for arg, part in found]
        places = [next((k for k, (other, _) in enumerate(settled) if other is arg), None) for arg in node.args]
        inputs = tuple(None if place is None else self._tensor(settled[place][1]) for place in places)
        parts = received if isinstance(received, list) else [received]
        outputs = tuple(None if part is None else self._tensor(part) for part in parts)
        for hook in list(function.posthooks.values()):
            answer = hook(inputs, outputs)
            if answer is not None:
                inputs = answer if isinstance(answer, tuple) else (answer,)
        return [
            (node.args[index], given.node)
            for index, given in enumerate(inputs)
            if given is not None and node.args[index].requires_grad
        ]

    # --- leaves --------------------------------------------------------------------------------------------------

    def _deliver(self, node: Node) -> None:
        if self.targets is not None and node not in self.targets:
            self._pending.pop(node, None)
            return
        g = self._arrive(node)
        owner = node.record.owner if node.record is not None else None
        if g is None or owner is None or not self.accumulate:
            return
        accumulate(owner, g, create=self.create)


def accumulate(owner: Tensor, g: Node, *, create: bool) -> None:
    """Add a gradient to a leaf's `.grad`: in place, unless it may be differentiated again."""
    have = owner._grad
    if create:
        if have is None:
            node = apply(make.clone, (g,), grad_fn="CopyBackwards")
            value_of(node, recorded=True)
            owner._grad = dispatch.tensor_class._of_node(node)
        else:
            owner._grad = have + dispatch.tensor_class._of_node(g)
    elif have is None:
        owner._grad = dispatch.tensor_class._made(np.array(g.value))
    else:
        if not have._array.flags.writeable:
            have._array = have._array.copy()
        have._array[...] += g.value
        have._counter.count += 1
    for hook in list(owner._after_accumulation.values()):
        hook(owner)
