"""Plans, and the executors that run them."""
