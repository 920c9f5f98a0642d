"""`python -m antiphase`, the same as the `antiphase` command."""

import sys

from antiphase.cli import main

sys.exit(main())
