"""Take the pictures of the help and of the README again: `python tests/tools/help_pictures.py` (needs Chromium).

Each comes from the program that takes all pictures of its pages; few colours keep the files small.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[2]
HELP = ROOT / "pi_controller" / "help" / "pages" / "pictures"
README = ROOT / ".github" / "pictures"
ROOM = ("--page", "room", "--only", "show", "--scheme", "light", "--code", "with", "--each", "--size")
PICTURES = {
    HELP / "room.png": ("tools/pictures.py", (*ROOM, "1280x720"), "room-1280x720-light-show.png"),
    HELP / "judge.png": ("tools/judge_pictures.py", (), "hit-390x844-light.png"),
    HELP / "exhibit.png": ("tools/exhibit_pictures.py", ("attract",), "attract-1280x800.png"),
    HELP / "terminal.png": ("tools/pictures.py", ("--readme",), "terminal.png"),
    README / "live-page.png": ("tools/pictures.py", ("--readme",), "live-page.png"),
}
"""Where a picture goes, the program in `tests/` that takes it, its options, and the name that it gives it."""
COLOURS = 96


def take(path, program, options, name):
    """Take one picture and write it to `path`."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, ROOT / "tests" / program, folder, *options]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        picture = Image.open(Path(folder, name)).convert("RGB")
        path.parent.mkdir(exist_ok=True)
        picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.stat().st_size:>7} {path.relative_to(ROOT)}")


def main():
    """Take all of them."""
    for path, how in PICTURES.items():
        take(path, *how)


if __name__ == "__main__":
    main()
