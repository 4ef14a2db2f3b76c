"""A score sheet printed by the machine's Chromium."""

import re

import pytest

from pi_controller.cli import main
from pi_controller.journal.journal import Journal
from pi_controller.referee.facts import ActionPlayed, GameOpened
from pi_controller.rules import registry


@pytest.mark.smoke
def test_short_game_is_printed_on_one_letter_page(chromium, tmp_path):
    path, settings = tmp_path / "final.sqlite", dict(registry.game("dakota").settings)
    with Journal(path) as journal:
        toss = ActionPlayed(13.0, {"do": "toss", "winner": "A"}, (), "judge")
        journal.append([GameOpened(12.0, "dakota", "1", "x", settings, {"A": "Red", "B": "Blue"}), toss])
    assert main(["export", str(path), "-o", str(tmp_path / "out"), "--pdf", "--paper", "letter"]) == 0
    data = (tmp_path / "out" / "final.pdf").read_bytes()
    assert data.startswith(b"%PDF")
    assert re.findall(rb"/MediaBox ?\[([^]]*)\]", data) == [b"0 0 612 792"]
