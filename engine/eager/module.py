"""`torch.nn.Module`: a function with parameters, buffers and inner modules of its own."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from .tensor import Parameter, Tensor


class Module:
    """A function with parameters of its own."""

    training = True

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """What `forward` gives."""
        return self.forward(*args, **keywords)

    def forward(self, *args: Any, **keywords: Any) -> Any:
        """What the module computes."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def register_buffer(self, name: str, tensor: Any) -> None:
        """Keep a tensor that is no parameter and belongs to the state."""
        self.__dict__.setdefault("_buffer_names", []).append(name)
        setattr(self, name, tensor)

    def register_parameter(self, name: str, param: Any) -> None:
        """Keep a parameter."""
        setattr(self, name, param)

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly inside, by name."""
        return ((name, value) for name, value in vars(self).items() if isinstance(value, Module))

    def children(self) -> Iterator[Module]:
        """The modules directly inside."""
        return (child for _, child in self.named_children())

    def modules(self) -> Iterator[Module]:
        """The module and all inside of it."""
        yield self
        for child in self.children():
            yield from child.modules()

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        """The parameters, with those of inner modules, by name."""
        for name, value in vars(self).items():
            if isinstance(value, Parameter):
                yield prefix + name, value
        for name, child in self.named_children():
            yield from child.named_parameters(f"{prefix}{name}.")

    def parameters(self) -> Iterator[Parameter]:
        """The parameters, with those of inner modules."""
        return (parameter for _, parameter in self.named_parameters())

    def state_dict(self, prefix: str = "") -> dict[str, Tensor]:
        """Parameters and buffers by name, without their past."""
        kept: OrderedDict[str, Tensor] = OrderedDict()
        for name, value in vars(self).items():
            if isinstance(value, Parameter):
                kept[prefix + name] = value.detach()
        for name in self.__dict__.get("_buffer_names", ()):
            kept[prefix + name] = getattr(self, name)
        for name, child in self.named_children():
            kept.update(child.state_dict(f"{prefix}{name}."))
        return kept

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Set `requires_grad` of all parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters."""
        for parameter in self.parameters():
            if set_to_none or parameter._grad is None:
                parameter._grad = None
            else:
                parameter._grad.zero_()

    def train(self, mode: bool = True) -> Module:
        """Say whether the module is being trained."""
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Module:
        """Say that the module is not being trained."""
        return self.train(False)

    def extra_repr(self) -> str:
        """What stands in the brackets of the module's text."""
        return ""

    def __repr__(self) -> str:
        inner = [f"({name}): " + repr(child).replace("\n", "\n  ") for name, child in self.named_children()]
        extra = self.extra_repr()
        if not inner:
            return f"{type(self).__name__}({extra})"
        return f"{type(self).__name__}(\n  " + "\n  ".join(([extra] if extra else []) + inner) + "\n)"
