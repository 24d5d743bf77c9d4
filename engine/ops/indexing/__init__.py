"""Rows that pick entries out of a tensor, or put them in."""
