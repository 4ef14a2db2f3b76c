"""Start another program with pipes, and wait for its end."""

import subprocess


def start_program(command, folder, environment):
    """Start `command` in `folder`, with nothing to read."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=folder, env=environment, text=True, **pipes)


def finish_program(process):
    """Wait for the end, kill what takes longer than four minutes, and return the result."""
    try:
        said = process.communicate(timeout=240)
    except subprocess.TimeoutExpired:
        process.kill()
        said = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, *said)
