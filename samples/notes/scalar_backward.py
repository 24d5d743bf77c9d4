# backward() on a scalar fills in the grad of every leaf that it depends on: here dz/dx = 2x and dz/dy = 1.
import torch

x = torch.tensor(1.0, requires_grad=True)
y = torch.tensor(2.0, requires_grad=True)
z = x**2 + y
print(z)

z.backward()
print(x.grad)
print(y.grad)

# The function does the same as the method.
u = torch.tensor(1.0, requires_grad=True)
torch.autograd.backward(u**2)
print(u.grad)
