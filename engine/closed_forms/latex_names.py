"""Names in LaTeX; SymPy is not needed for them."""

from __future__ import annotations

from typing import Final

_GREEK: Final = frozenset(
    """
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega
    Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega
    """.split()  # noqa: SIM905  # thirty strings in quotes would be hard to read
)


def latex_name(label: str) -> str:
    """A name with its index in LaTeX: Greek names as letters, what stands behind `_` or the index below the line."""
    name, _, index = label.partition("[")
    base, *below = name.split("_")
    if "" in (base, *below):
        base, below = name, []
    subscript = [*below]
    letters = base.rstrip("0123456789")
    if letters and letters != base:
        subscript.insert(0, base[len(letters) :])
        base = letters
    if base in _GREEK:
        base = rf"\{base}"
    elif len(base) > 1 or base == "_":
        base = rf"\mathrm{{{_latex_text(base)}}}"
    if index:
        subscript.append(index.rstrip("]").replace(" ", ""))
    parts = [part if part.replace(",", "").isdigit() or len(part) == 1 else rf"\mathrm{{{part}}}" for part in subscript]
    return f"{base}_{{{','.join(parts)}}}" if parts else base


def _latex_text(text: str) -> str:
    return text.replace("_", r"\_")
