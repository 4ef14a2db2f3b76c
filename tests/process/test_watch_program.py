"""`moccasin-mat watch` as a program, at a table that is served."""

import json
import signal
import subprocess
import sys

from pi_controller.cli import main

WATCH = [sys.executable, "-m", "pi_controller", "watch"]


def test_once(server):
    done = subprocess.run([*WATCH, "--url", server.url, "--once"], capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stderr, done.stdout.count(b"\n")) == (0, b"", 1)
    shown = json.loads(done.stdout)
    assert shown["view"]["seq"] == 1
    assert "The four pads, as the hider sees them" in shown["regions"]["play"]
    assert "<" not in done.stdout.decode()


def test_once_without_a_table_exits_2(server, capsys):
    server.stop()
    assert main(["watch", "--url", server.url, "--once"]) == 2
    assert "no table answers at" in capsys.readouterr().err


def test_ctrl_c_ends_it_without_a_word(server):
    with subprocess.Popen([*WATCH, "--url", server.url], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as watching:
        assert json.loads(watching.stdout.readline())["view"]["seq"] == 1
        watching.send_signal(signal.SIGINT)
        assert watching.wait(120) == 130
        assert watching.stderr.read() == b""


def test_closed_stdout_is_no_error(server, feed, view):
    with subprocess.Popen([*WATCH, "--url", server.url], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as watching:
        watching.stdout.readline()
        watching.stdout.close()
        feed.publish(view(seq=2))
        assert watching.wait(120) == 0
        assert watching.stderr.read() == b""
