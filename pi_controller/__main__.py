"""`python -m pi_controller` is `moccasin-mat`."""

import sys

from pi_controller.cli import main

sys.exit(main())
