"""Tensors as text, as PyTorch prints them."""
