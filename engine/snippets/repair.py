"""What to do about PyTorch's errors: the text of an error, and the repair that a learner needs."""

from __future__ import annotations

import re
from typing import Final

_REPAIRS: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern), repair)
    for pattern, repair in (
        (
            "grad can be implicitly created only for scalar outputs|grad can be implicitly created only for real",
            "make it a scalar with {name}.sum(), or weight its elements with gradient=torch.ones_like({name})",
        ),
        (
            "Trying to backward through the graph a second time",
            "give retain_graph=True to the first backward, or compute {name} again before the second",
        ),
        (
            "a view of a leaf Variable that requires grad is being used in an in-place operation",
            "write into it within `with torch.no_grad():`, or into a clone",
        ),
        (
            "a leaf Variable that requires grad is being used in an in-place operation",
            "change it within `with torch.no_grad():`, or make a new tensor of it",
        ),
        (
            "does not require grad and does not have a grad_fn",
            "make a tensor that {name} is computed from with requires_grad=True, outside torch.no_grad()",
        ),
        (
            "appears to not have been used in the graph|appear to not have been used",
            "leave it out of the inputs, or give allow_unused=True to get None for it",
        ),
        (
            "One of the differentiated Tensors does not require grad",
            "make the input with requires_grad=True before the output is computed",
        ),
        (
            "has been modified by an inplace operation",
            "compute a new tensor (x = x + 1) in place of writing into the old one (x += 1)",
        ),
        ("Can't call numpy\\(\\) on Tensor that requires grad", "write {name}.detach().numpy()"),
        (
            "you can only change requires_grad flags of leaf variables",
            "take {name}.detach() for a tensor that stands outside the graph",
        ),
        ("Mismatch in shape: grad_", "give weights of the shape of the output"),
        (
            "Boolean value of Tensor with more than one value is ambiguous",
            "say which is meant: .all(), .any(), or one element",
        ),
        (
            "cannot be converted to Scalar|can be converted to Python scalars|can be converted to scalars",
            "take one element, .sum(), or .tolist() for all of them",
        ),
        (
            "can't retain_grad on Tensor that has requires_grad=False|cannot register a hook on a tensor that doesn't",
            "make {name} with requires_grad=True, or compute it from such a tensor",
        ),
        (
            "Only Tensors of floating point and complex dtype can require gradients|only Tensors of floating point",
            "make it of floats: torch.tensor([1.0, 2.0]), or .float()",
        ),
        (
            "Only Tensors created explicitly by the user|deepcopy protocol",
            "copy {name}.detach().clone() in its place",
        ),
        (
            "must match the size of tensor|shapes cannot be multiplied|size mismatch|inconsistent tensor size",
            "look at the shapes: print(x.shape)",
        ),
        ("is invalid for input of size", "the sizes must multiply to the number of elements; -1 lets one be found"),
        (
            "expected m1 and m2 to have the same dtype|to have the same dtype|same dtype",
            "convert one: .float(), .double()",
        ),
        ("returned nan values in its", "look for a division by 0, sqrt(0) or log(0) before it"),
    )
)


def repair(message: str, name: str) -> str:
    """What to do about an error; empty where nothing is known.

    Args:
        message: the text of the error.
        name: the variable or expression that it concerns.
    """
    for pattern, text in _REPAIRS:
        if pattern.search(message):
            return text.format(name=name)
    return ""
