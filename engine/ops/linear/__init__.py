"""Rows of linear algebra: products, solves, determinants, decompositions."""
