# A matrix times a vector: the gradient by the matrix is an outer product, that by the vector a product with the
# transposed matrix. Only what requires a gradient gets one.
import torch

X = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
v = torch.tensor([5.0, 6.0])
y = torch.mv(X, v)
print(y)
y.backward(torch.ones(2))
print(X.grad)
print(v.grad)

A = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
z = torch.tensor([[5.0], [6.0]], requires_grad=True)
weights = torch.tensor([[1.0], [10.0]])
(A @ z).backward(weights)
print(A.grad)
print(z.grad)
print(torch.equal(A.grad, weights @ z.detach().T), torch.equal(z.grad, A.detach().T @ weights))
