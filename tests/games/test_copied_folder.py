"""A new game is a copy of one folder, changed inside that folder alone: paper, table, page, lights and simulation."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pi_controller.games

PLAYED = """
import sys, tempfile
from pathlib import Path
import pi_controller.games
pi_controller.games.__path__.append(sys.argv[1])
from pi_controller.display.i18n import ENGLISH
from pi_controller.display.lights import frame
from pi_controller.rules import registry
from pi_controller.simulation.simulation import Simulation
from pi_controller.web.frames import frame_regions
game = registry.game("copied")
print(*registry.names())
for part in ("rules", "referee", "display", "console", "people"):
    assert registry.game_module("copied", part).__name__ == f"pi_controller.games.copied.{part}", part
with tempfile.TemporaryDirectory() as folder:
    with Simulation(1, Path(folder) / "copied.sqlite", game) as simulation:
        view = simulation.play(90.0)
        assert view.game == "copied" and view.seq > 2, view
        assert any(frame(view, 1.0)) and frame_regions(view, ENGLISH)

"""


@pytest.mark.slow
def test_copied_folder_is_a_game_everywhere(tmp_path):
    source = Path(next(iter(pi_controller.games.__path__))) / "slahal"
    shutil.copytree(source, tmp_path / "copied", ignore=shutil.ignore_patterns("__pycache__"))
    for module in (tmp_path / "copied").glob("*.py"):
        text = module.read_text("utf-8").replace("games.slahal", "games.copied").replace('"slahal"', '"copied"')
        module.write_text(text, "utf-8")
    done = subprocess.run([sys.executable, "-c", PLAYED, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[-1] == "copied"
