"""Derivatives in closed form: the graph as SymPy's expressions, differentiated by SymPy, written in several notations.

`request` is the side that asks; all else runs in a worker's process and imports SymPy. Expressions are built from the
graph alone, never from text.
"""
