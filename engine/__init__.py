"""agrad's engine: text, graph, gradient graph, plan, values, rows."""
