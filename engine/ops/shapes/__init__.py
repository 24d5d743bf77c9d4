"""Rows that rearrange entries and compute nothing."""
