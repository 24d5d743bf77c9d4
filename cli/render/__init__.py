"""Rows to text: a table, plain lines, JSON, CSV, Markdown."""
