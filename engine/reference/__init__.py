"""The reference of the ops, made from the table: worked examples, rules as text, the page."""
