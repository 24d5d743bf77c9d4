# create_graph=True makes the gradient itself a result that can be differentiated again.
import torch

x = torch.tensor(2.0, requires_grad=True)
y = x**4
(first,) = torch.autograd.grad(y, x, create_graph=True)
(second,) = torch.autograd.grad(first, x, create_graph=True)
(third,) = torch.autograd.grad(second, x)
print(first.item(), second.item(), third.item())
print(first.requires_grad, third.requires_grad)

# The matrix of second derivatives, row by row.
p = torch.tensor([1.0, 2.0], requires_grad=True)
f = p[0] ** 2 * p[1] + p[1] ** 3
(g,) = torch.autograd.grad(f, p, create_graph=True)
rows = [torch.autograd.grad(g[i], p, retain_graph=True)[0] for i in range(2)]
print(torch.stack(rows))

# A penalty on the size of the gradient.
q = torch.tensor([3.0, 4.0], requires_grad=True)
(g,) = torch.autograd.grad((q**2).sum(), q, create_graph=True)
g.norm().backward()
print(q.grad)
