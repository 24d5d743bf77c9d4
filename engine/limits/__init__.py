"""The derivative of the whole function where the chain rule over float64 has none: from quotients of many digits.

Only for small graphs, and only where `singular` has found a number that is not finite or an op on a kink. The graph is
evaluated on numbers of 50 digits and more beside the point, on both sides of each entry. Where both sides agree, theirs
is the derivative; at a true kink the rules' number stands if it lies between both slopes, as PyTorch's conventions do.
"""

from __future__ import annotations

from .blocks import Block, repaired_blocks
from .look import Repairs, repaired
from .settled import Kink, shortened
from .values import repaired_values, suspects

__all__ = ["Block", "Kink", "Repairs", "repaired", "repaired_blocks", "repaired_values", "shortened", "suspects"]
