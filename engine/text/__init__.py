"""Graph to text: nodes as expressions of the language."""
