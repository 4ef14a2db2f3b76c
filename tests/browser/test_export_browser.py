"""The sheet of a game, printed by a browser."""

import os
import re
import shutil

import pytest

from pi_controller.cli import main
from pi_controller.journal.export import BROWSERS
from pi_controller.journal.journal import Journal
from pi_controller.referee.facts import GameOpened
from pi_controller.rules import registry


@pytest.mark.chromium
@pytest.mark.skipif(
    not any(map(shutil.which, BROWSERS)) and not os.environ.get("MOCCASIN_CI"), reason="apt install chromium"
)
def test_game_is_printed_on_one_page_by_chromium(tmp_path):
    path = tmp_path / "final.sqlite"
    with Journal(path) as journal:
        settings = dict(registry.game("dakota").settings)
        journal.append([GameOpened(1_700_000_000.0, "dakota", "1", "x", settings, {"A": "Red", "B": "Blue"})])
    assert main(["export", str(path), "-o", str(tmp_path / "out"), "--pdf", "--paper", "letter"]) == 0
    data = (tmp_path / "out" / "final.pdf").read_bytes()
    assert data.startswith(b"%PDF")
    assert re.findall(rb"/MediaBox ?\[([^]]*)\]", data) == [b"0 0 612 792"]
