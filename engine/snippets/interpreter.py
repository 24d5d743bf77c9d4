"""Runs a snippet by walking its syntax tree; nothing is ever given to Python to run as code."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..errors import OutputError
from .access import Access
from .builtin import counted_constructors, make_builtins
from .expressions import EXPRESSIONS
from .imports import Imports
from .library import Library
from .limits import Limits, Meter
from .scope import Frame
from .statements import STATEMENTS
from .stop import Closed, Stop, limit
from .warn import Warnings

Write = Callable[[bytes], None]


class Interpreter:
    """One running snippet.

    Args:
        limits: what it may use up.
        write: takes the bytes of its standard output.
        modules: makers of modules by name, besides those that need nothing.
        library: the classes that these modules give.
        tell: takes the lines of its warnings; without it they are dropped.
        name: of its file.
    """

    def __init__(
        self,
        limits: Limits,
        write: Write,
        *,
        modules: Mapping[str, Callable[[], Any]] | None = None,
        library: Library | None = None,
        tell: Callable[[str], object] = str,
        name: str = "<text>",
    ) -> None:
        self.meter = Meter(limits)
        self.access = Access(self.meter, library or Library())
        self.name = name
        self.warnings = Warnings(lambda: self.line, tell, name)
        self.imports = Imports({"warnings": self.warnings.namespace, **(modules or {})}, self.access.read)
        self.constructors: Mapping[Any, Callable[..., Any]] = counted_constructors(self)
        self.top = Frame(None, None, make_builtins(self))
        self.at: ast.AST = ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
        """What is being computed; where an error is raised, what failed."""
        self.statement: ast.AST = self.at
        """The statement of the top level that is running."""
        self.calls: list[tuple[str, ast.AST]] = []
        """The calls that have not ended: the name of the function, and what it is called from."""
        self.on_statement: Callable[[int], None] | None = None
        """Is told the line of each statement before it runs."""
        self.failed: BaseException | None = None
        self.failed_at: ast.AST = self.at
        self._write = write

    @property
    def line(self) -> int:
        """The line of what is being computed."""
        return int(getattr(self.at, "lineno", 1))

    def run(self, tree: ast.Module, after: Callable[[ast.stmt], None] | None = None) -> None:
        """Run a whole snippet.

        Args:
            tree: its syntax tree, looked at by `parsed`.
            after: is told each statement of the top level once it has run.

        Raises:
            Exception: what the snippet raises and does not catch.
            Stop: where it is ended from outside.
        """
        for statement in tree.body:
            self.statement = statement
            self.execute([statement], self.top)
            if after is not None:
                after(statement)

    def write(self, text: str) -> None:
        """Write to the standard output of the snippet.

        Raises:
            Stop: where it has written too much, or nothing can be written.
            Closed: where nobody reads any more.
        """
        data = text.encode()
        room = self.meter.output(len(data))
        try:
            self._write(data[:room])
        except BrokenPipeError:
            raise Closed from None
        except OSError as fault:
            raise Stop(OutputError(f"cannot write the output: {fault.strerror or fault}")) from None
        if room < len(data):
            limit(f"more than {self.meter.limits.output} bytes of output")

    def evaluate(self, node: ast.AST, frame: Frame) -> Any:
        """The value of an expression."""
        return EXPRESSIONS[type(node)](self, node, frame)

    def execute(self, body: Iterable[ast.stmt], frame: Frame) -> Any:
        """Run statements; gives what ends them early: a `Return`, BREAK, CONTINUE, or None."""
        meter = self.meter
        for statement in body:
            meter.step()
            self.at = statement
            if self.on_statement is not None:
                self.on_statement(statement.lineno)
            try:
                signal = STATEMENTS[type(statement)](self, statement, frame)
            except BaseException as error:
                self.note(error)
                raise
            if signal is not None:
                return signal
        return None

    def note(self, error: BaseException) -> None:
        """Remember where an error was raised: the first that sees it knows."""
        if error is not self.failed:
            self.failed, self.failed_at = error, self.at

    def call(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Call whatever a snippet calls."""
        self.meter.step()
        gather = self.constructors.get(function) if isinstance(function, type) else None
        return (gather or function)(*args, **kwargs)

    def place(self) -> list[tuple[str, ast.AST]]:
        """The calls that are running, the outermost first: where each stands, and in which function."""
        names = ["<module>", *[name for name, _ in self.calls]]
        nodes = [*[node for _, node in self.calls], self.at]
        return list(zip(names, nodes, strict=True))
