"""`python -m agrad.cli` is the command `agrad`."""

from .main import main

main()
