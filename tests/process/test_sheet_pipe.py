"""The score sheet as a program at the end of a pipe."""

import json
import subprocess
import sys

TOSS = b'{"do":"toss","winner":"A"}\n'
MISS = b'{"do":"hit","found":false}\n'
COMMAND = [sys.executable, "-m", "pi_controller", "score"]


def test_the_command_answers_line_by_line():
    with subprocess.Popen([*COMMAND, "dakota"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        assert json.loads(process.stdout.readline())["state"]["hider"] is None
        for line, key in ((TOSS, "state"), (b"nope\n", "error"), (MISS, "state")):
            process.stdin.write(line)
            process.stdin.flush()
            assert key in json.loads(process.stdout.readline())
        process.stdin.close()
        assert process.wait(60) == 2


def test_a_reader_that_leaves_is_no_error():
    process = subprocess.Popen(
        [*COMMAND, "dakota"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    process.stdout.readline()
    process.stdout.close()
    process.stdout = None
    _, complaints = process.communicate(TOSS + MISS * 2000, timeout=600)
    assert complaints == b""
    assert process.returncode == 0
