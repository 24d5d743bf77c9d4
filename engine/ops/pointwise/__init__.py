"""Elementwise rows: one entry of the result depends on one entry of each argument."""
