"""agrad beside its peers: `python tests/benchmarks`."""

import sys

from command import main

sys.exit(main())
