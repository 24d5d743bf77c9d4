"""The command line of agrad."""
