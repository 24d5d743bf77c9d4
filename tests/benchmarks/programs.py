"""Peers as whole processes that run one and the same text of formulas: a program for each, given to `python -c`.

Each program is given the file and the names to differentiate by, makes leaves of those, runs the lines as Python, and
prints `{"values": {name: value}, "gradients": {name: gradient}}` of what is assigned last.
"""

from __future__ import annotations

from typing import Final

_READ: Final = """
import json, sys
wrt = sys.argv[2].split(",")
lines = open(sys.argv[1]).read().splitlines()
leaves = {name: float(text) for name, _, text in (line.partition(" = ") for line in lines) if name in wrt}
others = [line for line in lines if line.partition(" = ")[0] not in wrt]
last = others[-1].partition(" = ")[0]
code = compile("\\n".join(others), sys.argv[1], "exec")
def answer(value, gradients):
    print(json.dumps({"values": {last: float(value)}, "gradients": dict(zip(wrt, map(float, gradients)))}))
"""

_TORCH: Final = """
import torch
names = {"sin": torch.sin}
for name in wrt:
    names[name] = torch.tensor(leaves[name], dtype=torch.float64, requires_grad=True)
exec(code, names)
names[last].backward()
answer(names[last].item(), [names[name].grad for name in wrt])
"""

_AUTOGRAD: Final = """
import autograd.numpy as anp
from autograd import value_and_grad
def function(*values):
    names = {"sin": anp.sin, **dict(zip(wrt, values))}
    exec(code, names)
    return names[last]
answer(*value_and_grad(function, argnum=tuple(range(len(wrt))))(*[leaves[name] for name in wrt]))
"""

_JAX: Final = """
import jax
jax.config.update("jax_enable_x64", True)
def function(*values):
    names = {"sin": jax.numpy.sin, **dict(zip(wrt, values))}
    exec(code, names)
    return names[last]
answer(*jax.value_and_grad(function, argnums=tuple(range(len(wrt))))(*[leaves[name] for name in wrt]))
"""

_CASADI: Final = """
import casadi
symbols = {name: casadi.SX.sym(name) for name in wrt}
names = {"sin": casadi.sin, **symbols}
exec(code, names)
leaf = casadi.vertcat(*symbols.values())
function = casadi.Function("function", [leaf], [names[last], casadi.gradient(names[last], leaf)])
value, gradients = function([leaves[name] for name in wrt])
answer(value, gradients.full().ravel())
"""

PROGRAMS: Final = {
    "torch": _READ + _TORCH,
    "jax": _READ + _JAX,
    "autograd": _READ + _AUTOGRAD,
    "casadi": _READ + _CASADI,
}

YARDSTICKS: Final = {
    "imports": "import click, rich.table, numpy",
    "ast.parse": "import ast, sys; ast.parse(open(sys.argv[1]).read())",
}
"""What agrad cannot well do without, or what compares with a part of its work; no gradient comes of it."""
