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


TOURNAMENT = '[referee]\npreset = "tournament"\n[web]\nchances = true\n'
CONFLICT = '4: [web] chances: must be false where [referee] preset is "tournament"'


def test_conflict_is_reported_beside_faults_of_other_sections(fault_lines):
    assert fault_lines(f"{TOURNAMENT}[strips]\nbrightness = 7\n[wep]\n") == [
        CONFLICT,
        "6: [strips] brightness: must be a number from 0 to 1, not 7",
        "7: wep: there is no such section; did you mean web?",
    ]


def test_conflict_with_a_faulty_section_is_omitted(fault_lines):
    assert fault_lines(f"{TOURNAMENT}port = 'x'\n") == [
        "5: [web] port: must be a whole number from 0 to 65535, not 'x'",
    ]


def test_conflict_of_former_key_is_reported_by_it(fault_lines):
    assert fault_lines(TOURNAMENT.replace("chances", "odds")) == [CONFLICT.replace("chances", "odds")]


def test_all_conflicts_are_reported_together(fault_lines):
    boards = '[board_b]\nport = "/dev/b"\n[strips]\nkind = "board"\n[board]\nport = "none"\n'
    found = fault_lines(f'{TOURNAMENT}[game]\nname = "patol"\n[teams]\na = "Upper"\n{boards}')
    assert [line.partition(":")[0] for line in found] == ["4", "8", "10", "12"]


def test_each_section_of_good_settings_is_validated_once(monkeypatch):
    validated = []
    find = module._find_game_issues  # each validation of [game] asks for its issues once
    monkeypatch.setattr(module, "_find_game_issues", lambda *given: validated.append(given) or find(*given))
    settings, issues = validate_data(Settings, {"game": {"name": "slahal"}, "teams": {"a": "Upper"}})
    assert settings is not None
    assert not issues
    assert len(validated) == 1
