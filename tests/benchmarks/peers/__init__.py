"""The peers: agrad and what it is compared with, each in a module that is imported in a process of its own only."""

from __future__ import annotations

from typing import Final

from .peer import Peer

PEERS: Final[dict[str, Peer]] = {
    peer.name: peer
    for peer in (
        Peer("agrad", "graph_and_plan", ("numpy",)),
        Peer("numpy", "numpy_by_hand", ("numpy",), differentiates=False),
        Peer("torch", "pytorch", ("torch",), entry="eager"),
        Peer("torch-compiled", "pytorch", ("torch",), entry="compiled"),
        Peer("jax", "jax_jit", ("jax", "jaxlib")),
        Peer("autograd", "hips_autograd", ("autograd",)),
        Peer("casadi", "casadi_function", ("casadi",)),
    )
}
