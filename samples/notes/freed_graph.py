# After a backward, a second one fails where values were saved for it: x * x saves x, x + 1 saves nothing.
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)

plus = (x + 1).sum()
plus.backward()
plus.backward()
print(x.grad)

times = (x * x).sum()
times.backward()
try:
    times.backward()
except RuntimeError as error:
    print(error)

# Running the forward pass again makes a new graph.
x.grad = None
times = (x * x).sum()
times.backward()
print(x.grad)

# A loop builds its graph anew in every round.
for _ in range(2):
    (x * x).sum().backward()
print(x.grad)
