"""Run the command line: `python -m pi_controller` is the same as `moccasin-mat`."""

import sys

from pi_controller.cli import main

sys.exit(main())
