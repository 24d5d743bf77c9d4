# backward() leaves gradients at the leaves only; a result keeps its own where retain_grad() asks for it.
import torch

x = torch.tensor([1.0, 1.0], requires_grad=True)
z = x * 4
y = z.norm()
z.retain_grad()
y.retain_grad()
y.backward()
print("x.grad", x.grad)
print("z.grad", z.grad)
print("y.grad", y.grad)
print(x.is_leaf, z.is_leaf, z.retains_grad)

# A hook sees the gradient as it passes.
seen = []
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a * 3
b.register_hook(lambda g: seen.append(g.clone()))
(b**2).sum().backward()
print(seen, a.grad)
