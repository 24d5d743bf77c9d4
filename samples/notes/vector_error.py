# A vector has no gradient of its own: backward() needs a scalar, or weights that make one.
import torch

x = torch.ones(2, requires_grad=True)
z = x + 2
print(z)

try:
    z.backward()
except RuntimeError as error:
    print("RuntimeError:", error)
print(x.grad)

# One element is enough to count as a scalar.
one = (x * 3).sum().reshape(1)
one.backward()
print(x.grad)
