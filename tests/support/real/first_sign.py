"""The program that waits for the first sign of the visitors' screen."""

import os
import socket
import subprocess
import sys

from pi_controller.card.service_unit import fill_in


def start_first_sign(folder, waits, *, main="self"):
    """Start the program from a script in `folder`; it waits `waits` s. Return it and its port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    script = folder / "first-sign.py"
    script.write_text(fill_in("first-sign.py.in", kiosk="no-such-unit", wait=waits), "utf-8")
    environment = {**os.environ, "MAINPID": main}
    return subprocess.Popen([sys.executable, "-I", str(script), str(port)], env=environment), port
