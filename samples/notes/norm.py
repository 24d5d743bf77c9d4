# The norm, step by step: z = 4x, y = |z|, so dy/dx = 16x / y.
import torch

x = torch.tensor([1.0, 1.0])
print(x, x.requires_grad)
x.requires_grad = True
print(x)

z = x * 4
print(z)
y = z.norm()
print(y, y.item())
print(x.is_leaf, z.is_leaf, y.is_leaf)

y.backward()
print(x.grad)
with torch.no_grad():
    print(16 * x / y)

# A step against the gradient makes the norm smaller.
with torch.no_grad():
    x -= 0.1 * x.grad
print(x, (x * 4).norm())
