"""`python -m ridgeline`, the same as the command `ridgeline`."""

import sys

from ridgeline.command import main

if __name__ == "__main__":
    sys.exit(main())
