"""Tensors that compute at once, as PyTorch's do, on the nodes and the gradients of the engine."""
