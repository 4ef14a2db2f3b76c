"""The referee on a real pipe."""

import json
import subprocess
import sys


class RefereeProcess:
    """The referee on a real pipe: `moccasin-mat referee dakota`."""

    def __init__(self, preset, options, nearest=""):
        sets = [word for option in options.items() for word in ("--set", "{}={}".format(*option))]
        command = [sys.executable, "-m", "pi_controller", "referee", "dakota", "--preset", preset, *sets]
        self._lines = 0
        self._process = subprocess.Popen(
            [*command, "--nearest", nearest], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def send(self, line):
        """Return what comes out for `line`. A second line, which is no JSON, follows it: its error ends the answer."""
        source, out = self._process.stdin, self._process.stdout
        self._lines += 2
        source.write(json.dumps(line) + "\nend\n")
        source.flush()
        answers = []
        while (answer := json.loads(out.readline())).get("error", {}).get("line") != self._lines:
            answers.append(answer)
        return answers

    def close(self):
        """End the process."""
        self._process.communicate()
