"""Attributes: what a script reads and sets, of its own values, of Python's, of a library's."""

from __future__ import annotations

from typing import Any

import pytest

from agrad.engine.snippets.access import Access
from agrad.engine.snippets.library import Library, Public
from agrad.engine.snippets.limits import Limits, Meter
from agrad.engine.snippets.namespaces import Namespace
from agrad.engine.snippets.stop import Stop


class Thing:
    """A value of a library."""

    def __init__(self) -> None:
        self.shown = 1
        self.node = 2
        self._version = 3
        self._secret = 4


class Unknown:
    """A value that nobody listed."""

    data = 1


@pytest.fixture
def access() -> Access:
    """Access with a library of one class."""
    thing = Public(
        Thing, hidden=frozenset({"node"}), underscored=frozenset({"_version"}), settable=frozenset({"shown"})
    )
    return Access(Meter(Limits()), Library([thing]))


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ((), "__class__"),
        (lambda: 0, "__globals__"),
        (Thing(), "_secret"),
        (Unknown(), "data"),
        ((i for i in ()), "gi_frame"),
        ("", "encode"),
        (int, "mro"),
        (Thing, "mro"),
        ([], "__init__"),
    ],
)
def test_refused(access: Access, value: Any, name: str) -> None:
    """What is not listed ends the script, and no `except` of its own sees it."""
    with pytest.raises(Stop):
        access.read(value, name)


def test_read_and_set_of_a_library(access: Access) -> None:
    """Of a library's value the public attributes are read, the hidden are not there, the listed are set."""
    thing = Thing()
    assert (access.read(thing, "shown"), access.read(thing, "_version")) == (1, 3)
    with pytest.raises(AttributeError, match="'Thing' object has no attribute 'node'"):
        access.read(thing, "node")
    access.write(thing, "shown", 5)
    assert thing.shown == 5
    with pytest.raises(Stop):
        access.write(thing, "other", 5)


def test_missing_attributes_are_pythons_errors(access: Access) -> None:
    """What a value does not have is an AttributeError, which a script may catch."""
    with pytest.raises(AttributeError, match="'list' object has no attribute 'size'"):
        access.read([], "size")
    with pytest.raises(AttributeError, match="module 'm' has no attribute 'x'"):
        access.read(Namespace("m", {"y": 1}), "x")


def test_format_reads_attributes_as_the_script_may(access: Access) -> None:
    """The fields of `str.format` have no way around: bound, unbound, by map."""
    assert access.read("{0.real} {a[1]}", "format")(1, a=[1, 2]) == "1 2"
    for call in (
        lambda: access.read("{0.__class__}", "format")(1),
        lambda: access.read(str, "format")("{0.__class__}", 1),
        lambda: access.read("{x.__class__}", "format_map")({"x": 1}),
    ):
        with pytest.raises(Stop):
            call()


def test_widths_are_limited(access: Access) -> None:
    """A method that fills a text up to a width looks at the width first."""
    assert access.read("a", "ljust")(3) == "a  "
    for name, args in (("ljust", (10**9,)), ("zfill", (10**9,)), ("replace", ("a", "b" * 10**8))):
        with pytest.raises(Stop):
            access.read("a", name)(*args)
