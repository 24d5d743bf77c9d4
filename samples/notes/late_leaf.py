# requires_grad on a tensor counts from then on: what was computed before does not know of it.
import torch

x = torch.tensor([[2.0, 3.0], [1.0, 2.0]], requires_grad=True)
z = torch.ones(2, 1)
y = x.mm(z)

z.requires_grad = True
y.backward(torch.ones(2, 1))
print(x.grad)
print(z.grad)

# Computed again, the result depends on z as well.
y = x.mm(z)
y.backward(torch.ones(2, 1))
print(x.grad)
print(z.grad)

# A result cannot be made to stop requiring a gradient.
try:
    y.requires_grad = False
except RuntimeError as error:
    print(error)
