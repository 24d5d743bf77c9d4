"""How the results of a check are written: as they come, or at the end, in each of the formats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from agrad.engine.checking.finding import FileResult, Finding, Tally
from agrad.engine.checking.versions import agrad_version

from .render.text import escaped
from .screen import Screen, standard_screen, write, write_lines

FORMATS: Final = ("table", "json", "jsonl", "junit", "github", "sarif")


class Writer:
    """Writes results in one format on stdout, and what is no part of it on stderr.

    Args:
        format_: one of `FORMATS`.
        ascii_only: whether every character must be ASCII.
    """

    def __init__(self, format_: str, *, ascii_only: bool) -> None:
        self._format = format_
        self._screen: Screen = standard_screen(ascii_only=ascii_only)

    def result(self, result: FileResult) -> None:
        """Write what was found in a file, in the formats that are written file by file."""
        if self._format == "table":
            from .render.check_table import result_lines

            write_lines(result_lines(result, self._screen))
        elif self._format == "jsonl":
            from .render.check_json import file_line

            write_lines([file_line(result)])
        elif self._format == "github":
            from .render.github import annotation_lines

            write_lines(annotation_lines(result.findings))

    def end(self, results: Sequence[FileResult], extra: Sequence[Finding], tally: Tally, code: int) -> None:
        """Write the rest, and the sums: those on stderr where programs read stdout.

        Args:
            results: of each file.
            extra: findings of no single file: what a lock has otherwise.
            tally: the sums.
            code: the exit code.
        """
        if self._format == "table":
            self._end_table(extra, tally)
            return
        if self._format == "json":
            from .render.check_json import whole_text

            write(whole_text(results, extra, tally, code))
        elif self._format == "jsonl":
            from .render.check_json import end_lines

            write_lines(end_lines(extra, tally, code))
        elif self._format == "github":
            from .render.github import annotation_lines

            write_lines(annotation_lines(extra))
        elif self._format == "junit":
            from .render.junit import junit_text

            write(junit_text(results, extra))
        else:
            from .render.sarif import sarif_text

            write(sarif_text(results, extra, agrad_version(), code))
        self.note(tally.words)

    def _end_table(self, extra: Sequence[Finding], tally: Tally) -> None:
        from .render.check_table import finding_lines, lock_lines

        faults = finding_lines([finding for finding in extra if finding.kind != "lock"], self._screen)
        moved = lock_lines([finding for finding in extra if finding.kind == "lock"], self._screen)
        write_lines([*faults, *moved, "", self._screen.painted(tally.words, "bold")])

    def note(self, text: str) -> None:
        """Say something on stderr."""
        click.echo(escaped(text, ascii_only=self._screen.ascii_only), err=True)
