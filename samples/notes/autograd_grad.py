# torch.autograd.grad gives the gradients and leaves grad alone; here is each of its arguments.
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
w = torch.tensor(2.0, requires_grad=True)
spare = torch.tensor([7.0, 8.0], requires_grad=True)

# outputs, inputs: a tuple comes back, one gradient for each input.
y = (x**2).sum() * w
print(torch.autograd.grad(outputs=y, inputs=[x, w]))
print(x.grad, w.grad)

# grad_outputs: the weights of an output that is no scalar.
z = x**2
print(torch.autograd.grad(z, x, grad_outputs=torch.tensor([1.0, 0.0, -1.0])))

# retain_graph: the graph may be used again.
z = x**2
torch.autograd.grad(z.sum(), x, retain_graph=True)
print(torch.autograd.grad(z.sum(), x))

# create_graph: the result can be differentiated again.
(g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
print(g.requires_grad, torch.autograd.grad(g.sum(), x))

# allow_unused: None for an input that the output does not depend on.
try:
    torch.autograd.grad(w * 2, [w, spare])
except RuntimeError as error:
    print(str(error)[:66])
print(torch.autograd.grad(w * 2, [w, spare], allow_unused=True))

# materialize_grads: zeros in place of None.
print(torch.autograd.grad(w * 2, [w, spare], materialize_grads=True))

# is_grads_batched: several sets of weights at once; the rows of the identity give the Jacobian.
(jacobian,) = torch.autograd.grad(x**2, x, grad_outputs=torch.eye(3), is_grads_batched=True)
print(jacobian)
