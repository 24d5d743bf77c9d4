"""Many files checked: what is judged in each, what was found, and a lock that says what it was before."""
