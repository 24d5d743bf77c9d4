# Leaves are the tensors that you make; results are made by operations. Only a result has a grad_fn, and before any
# backward nothing has a grad.
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor(3.0)
y = x * b
z = y.sum()

for name, t in [("x", x), ("b", b), ("y", y), ("z", z)]:
    print(f"{name}: requires_grad={t.requires_grad}, is_leaf={t.is_leaf}, grad_fn={t.grad_fn is not None}")
print(x.grad, x.grad_fn)
print(y.grad_fn.name(), z.grad_fn.name())
print([edge[0].name() if edge[0] is not None else None for edge in z.grad_fn.next_functions])
print(x)
print(y)
print(x.data, x.data.requires_grad)
print(x.detach().is_leaf, y.detach().is_leaf)
