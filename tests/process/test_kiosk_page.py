"""The visitors' screen: its unit, what the browser may, and the page on the disk that waits for the installation."""

import socket
import subprocess
import sys

from first_sign import start_first_sign

from pi_controller.card.service_unit import fill_in


def test_a_browser_without_a_sign_ends_its_unit(tmp_path):
    process, _ = start_first_sign(tmp_path, 1)
    assert process.wait(30) == 1


def test_a_browser_that_ended_is_not_waited_for(tmp_path):
    process, _ = start_first_sign(tmp_path, 10_000, main="no-such-process")
    assert process.wait(30) == 1


def test_a_taken_port_does_not_end_the_screen(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        script = tmp_path / "first-sign.py"
        script.write_text(fill_in("first-sign.py.in", kiosk="no-such-unit", wait=60), "utf-8")
        port = str(taken.getsockname()[1])
        assert subprocess.run([sys.executable, "-I", str(script), port], timeout=30, check=False).returncode == 0
