# Adjusting x along the gradient until y is near 0: steps are taken under no_grad, and grad is zeroed after each.
import torch

x = torch.tensor([3.0, -2.0], requires_grad=True)
rate = 0.2
for step in range(1, 101):
    y = ((x - 1) ** 2).sum()
    if step % 5 == 1:
        print(f"step {step}: y = {y.item():.6f}")
    if y.item() < 1e-4:
        print("near enough after", step, "steps")
        break
    y.backward()
    with torch.no_grad():
        x -= rate * x.grad
    x.grad.zero_()
print([round(value, 2) for value in x.tolist()])
