# backward() frees what it used; retain_graph=True keeps it for another backward through the same graph.
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x * x).sum()

y.backward(retain_graph=True)
print(x.grad)
y.backward()
print(x.grad)
try:
    y.backward()
except RuntimeError as error:
    print(str(error)[:53])

# Outputs that share a part of their graph need it too.
x.grad = None
shared = x.exp()
first, second = shared.sum(), shared.prod()
first.backward(retain_graph=True)
second.backward()
print(x.grad)
