"""Words with underscores that are allowed, and nothing else that begins so."""

from __future__ import annotations

from typing import Final

ATTRIBUTES: Final = frozenset({"_version", "__name__", "__version__", "__init__"})
"""The attributes that begin with an underscore and may be read: notes print all but the last, which classes call."""

_METHOD_NAMES: Final = (
    "init call repr str len getitem setitem delitem iter next contains bool float int abs index enter exit "
    "eq ne lt le gt ge neg pos invert add sub mul matmul truediv floordiv mod pow radd rsub rmul rmatmul rtruediv "
    "rfloordiv rmod rpow iadd isub imul itruediv hash"
)
METHODS: Final = frozenset(f"__{name}__" for name in _METHOD_NAMES.split())
"""The methods with underscores that a class may define."""
