"""A text evaluated or only planned: its outputs and their weights, values and gradients."""
