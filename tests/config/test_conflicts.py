"""What two sections say together is checked once, on the model, also if another section has faults."""

from __future__ import annotations

import pytest

from pi_controller.config import Settings, read_settings
from pi_controller.config import model as module
from pi_controller.config.load import validate_data
from pi_controller.errors import SettingsError


@pytest.fixture
def fault_lines(tmp_path):
    def fault_lines(text):
        path = tmp_path / "table.toml"
        path.write_text(text, "utf-8")
        with pytest.raises(SettingsError) as caught:
            read_settings(path)
        return [line.removeprefix(f"{path}:") for line in caught.value.message.split("\n")]

    return fault_lines


STRIPS_OF_NO_BOARD = '[board]\nport = "none"\n[strips]\nkind = "board"\n'
CONFLICT = '4: [strips] kind: is the board\'s, but [board] port is "none"'


def test_conflict_is_reported_beside_faults_of_other_sections(fault_lines):
    assert fault_lines(f"{STRIPS_OF_NO_BOARD}[voice]\nvolume = 7\n[wep]\n") == [
        CONFLICT,
        "6: [voice] volume: must be a number from 0 to 1, not 7",
        "7: wep: there is no such section; did you mean web?",
    ]


def test_conflict_with_a_faulty_section_is_omitted(fault_lines):
    assert fault_lines(f"{STRIPS_OF_NO_BOARD}pin = 'x'\n") == [
        "5: [strips] pin: must be a whole number from 2 to 27, not 'x'",
    ]


def test_all_conflicts_are_reported_together(fault_lines):
    boards = '[board_b]\nport = "/dev/b"\n'
    found = fault_lines(f'{STRIPS_OF_NO_BOARD}[game]\nname = "patol"\n[teams]\na = "Upper"\n{boards}')
    assert [line.partition(":")[0] for line in found] == ["4", "8", "10"]


def test_each_section_of_good_settings_is_validated_once(monkeypatch):
    validated = []
    find = module._find_game_issues  # each validation of [game] asks for its issues once
    monkeypatch.setattr(module, "_find_game_issues", lambda *given: validated.append(given) or find(*given))
    settings, issues = validate_data(Settings, {"game": {"name": "slahal"}, "teams": {"a": "Upper"}})
    assert settings is not None
    assert not issues
    assert len(validated) == 1
