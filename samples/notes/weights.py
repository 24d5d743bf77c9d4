# gradient= weights the elements of a vector: what is differentiated is their weighted sum.
import torch

weights = torch.tensor([0.1, 1.0, 10.0])

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x**2
y.backward(gradient=weights)
print(x.grad)

again = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
((again**2) * weights).sum().backward()
print(again.grad)

# Weights have the shape of what they weight.
try:
    (x**2).backward(gradient=torch.ones(2))
except RuntimeError as error:
    print(error)
