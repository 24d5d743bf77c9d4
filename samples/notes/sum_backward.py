# The sum of a vector is a scalar; its gradient is that of a vector of ones.
import torch

x = torch.ones(2, requires_grad=True)
z = x + 2
z.sum().backward()
print(x.grad)

y = torch.ones(2, requires_grad=True)
(y + 2).backward(torch.ones(2))
print(y.grad)
print(torch.equal(x.grad, y.grad))

v = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
(v**2).mean().backward()
print(v.grad)
