"""Where Mosquitto is: `hub setup` needs its program for passwords, and tests in `process/` the broker itself."""

import os
import shutil

import pytest

MOSQUITTO = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")

if MOSQUITTO is None and os.environ.get("MOCCASIN_CI"):
    raise RuntimeError("Mosquitto is missing: apt install mosquitto")
needs_mosquitto = pytest.mark.skipif(MOSQUITTO is None, reason="Mosquitto is missing: apt install mosquitto")
