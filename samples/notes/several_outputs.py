# torch.autograd.backward takes several outputs, and weights for those that are no scalars; the gradients add up.
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
a = x * 3
b = x**2
torch.autograd.backward([a, b], grad_tensors=[torch.ones(2), torch.tensor([0.5, 0.1])])
print(x.grad)

x.grad = None
torch.autograd.backward((x.sum(), (x**3).sum()))
print(x.grad)

# One output after the other gives the same, since gradients accumulate.
x.grad = None
x.sum().backward()
(x**3).sum().backward()
print(x.grad)

# inputs= names the leaves whose grad is wanted.
w = torch.tensor(2.0, requires_grad=True)
v = torch.tensor(3.0, requires_grad=True)
torch.autograd.backward(w * v, inputs=[w])
print(w.grad, v.grad)
