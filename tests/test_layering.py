"""The direction of imports: text, graph, gradient graph, plan, values, rows, screen. No module reaches back."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]

# A module may import those of its own entry and of the entries before it.
LAYERS = (
    "engine/errors",
    "engine/conditions",
    "engine/graph",
    "engine/ops",
    # These make nodes of nodes and need no text; the language has `grad(z, x)` and its kin, so it comes after them.
    "engine/gradient",
    "engine/sweep",
    "engine/derivatives/batching",
    "engine/sparsity",
    "engine/run",
    "engine/patterns",
    "engine/rewrite",
    "engine/derivatives/nodes",
    "engine/derivatives/calls",
    "engine/language",
    "engine/printing",
    "engine/eager",
    "engine/tensor",
    "engine/text",
    "engine/singular",
    "engine/derivatives/jacobian",
    "engine/derivatives/curvature",
    "engine/worker",
    "engine/referees",
    "engine/limits",
    "engine/derivatives/orders",
    "engine/files",
    "engine/evaluation",
    "engine/closed_forms",
    "engine/claims",
    "engine/derivatives/matrices",
    "engine/doctor",
    "engine/report",
    "engine/checking",
    "engine/reference",
    "engine/snippets",
    "cli/screen",
    "cli/options",
    "cli/render",
    "cli/reading",
    "cli/evaluation",
    "cli/plan",
    "cli/derivation",
    "cli/difference",
    "cli/progress",
    "cli/running",
    "cli/check_writer",
    "cli/checking",
    "cli/trace",
    "cli/snippet",
    "cli/commands",
    "cli/main",
    "cli/__main__",
)
SCREEN = ("click", "rich")


def _modules() -> list[Path]:
    return sorted([*ROOT.glob("engine/**/*.py"), *ROOT.glob("cli/**/*.py")])


def _layer(module: str) -> int:
    for index, layer in enumerate(LAYERS):
        if module == layer or module.startswith(layer + "/"):
            return index
    raise AssertionError(f"{module} stands in no layer: add it to LAYERS where it belongs")


def _imports(text: str, package: tuple[str, ...]) -> list[tuple[str, int]]:
    """Every import of a module, as a path below the root (`engine/graph`) or an outside name, and its line."""
    found: list[tuple[str, int]] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [(alias.name.removeprefix("agrad.").replace(".", "/"), node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            named = (node.module or "").removeprefix("agrad.").split(".")
            base = [*package[: len(package) - node.level + 1], *named] if node.level else named
            base = [part for part in base if part]
            for alias in node.names:
                whole = "/".join([*base, alias.name])
                known = (ROOT / (whole + ".py")).exists() or (ROOT / whole).is_dir()
                found.append((whole if known else "/".join(base), node.lineno))
    return found


def _imports_of(path: Path) -> list[tuple[str, int]]:
    return _imports(path.read_text(encoding="utf-8"), path.relative_to(ROOT).parts[:-1])


def _reaches_back(module: str, target: str) -> bool:
    ours = target.split("/")[0] in ("engine", "cli") and "/" in target
    return ours and _layer(target) > _layer(module)


def test_imports_point_upwards() -> None:
    """A module imports only from its own layer and from those above it in the design's list."""
    wrong = []
    for path in _modules():
        module = path.relative_to(ROOT).with_suffix("").as_posix().removesuffix("/__init__")
        if module not in ("engine", "cli"):
            wrong += [f"{module}:{line} imports {to}" for to, line in _imports_of(path) if _reaches_back(module, to)]
    assert not wrong, wrong


def test_the_engine_knows_no_screen() -> None:
    """No module of the engine imports click or rich."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {target}"
        for path in ROOT.glob("engine/**/*.py")
        for target, line in _imports_of(path)
        if target.split("/")[0] in SCREEN
    ]
    assert not wrong, wrong


def test_a_module_that_reaches_back_is_found() -> None:
    """A planted import from a lower layer is reported, whether it is written relatively or absolutely."""
    planted = "from ..run.plan import make_plan\nfrom agrad.cli.main import main\nfrom ..graph import Node\n"
    found = [line for to, line in _imports(planted, ("engine", "ops")) if _reaches_back("engine/ops/planted", to)]
    assert found == [1, 2]
    assert [to.split("/")[0] for to, _ in _imports("import rich.table", ("engine",))] == ["rich"]
