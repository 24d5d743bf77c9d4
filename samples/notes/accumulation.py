# Each backward adds to grad; whoever wants a fresh one zeroes it first, or sets it to None.
import torch

x = torch.tensor([1.0, -2.0], requires_grad=True)
for step in range(3):
    (x**2).sum().backward()
    print(step, x.grad)

x.grad.zero_()
print(x.grad)
(x**2).sum().backward()
print(x.grad)

kept = x.grad
x.grad = None
(x * 5).sum().backward()
print(x.grad, kept)
