"""Rows that make leaves: constructors and random numbers."""
