"""Rows of neural networks: layers, losses, convolutions, pooling."""
