"""The site that MkDocs builds of the help: without a warning, and with files of its own alone."""

import re
import subprocess
import sys
from pathlib import Path

from pi_controller.help.contents import list_pages

CONFIG = Path(__file__).parents[2] / "pi_controller" / "help" / "mkdocs.yml"


def test_strict_site_build_loads_no_external_files(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-f", CONFIG, "-d", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.rglob("index.html"))) == len(list_pages())
    assert (tmp_path / "search" / "search_index.json").is_file()
    for page in tmp_path.rglob("*.html"):
        loaded = re.findall(r'<(?:script|img|link)[^>]+(?:src|href)="(https?:[^"]+)"', page.read_text("utf-8"))
        assert not loaded, page
