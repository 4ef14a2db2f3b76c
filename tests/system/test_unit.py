"""The unit: what systemd says of it, and that nothing on the way into it can break it."""

import re
import tempfile
from pathlib import Path

import pytest

from pi_controller.card import service, service_unit
from pi_controller.card.plan import find_closed_path
from pi_controller.card.service_unit import WATCHDOG_S, unit
from pi_controller.host.place import Place, SetupError
from pi_controller.web.http_timeouts import MAX_CONNECTIONS, MAX_KEPT_CONNECTIONS, SPARE

MOST_EXPOSED = 2.0


def test_a_table_is_allowed_little(exposure, here, tmp_path):
    path = tmp_path / "moccasin-mat.service"
    path.write_text(unit(here, [Path("/srv/games")]), "utf-8")
    assert exposure(path) <= MOST_EXPOSED
    # it is the unit that makes it so: the same without its confinement is far above
    path.write_text(re.sub(r"\nNoNewPrivileges.*?(?=\n\[Install)", "", unit(here), flags=re.DOTALL), "utf-8")
    assert exposure(path) > 4 * MOST_EXPOSED


@pytest.mark.usefixtures("analyze")
def test_unit_passes_systemd_verify(here):
    assert service.verify_unit(unit(here)) == []


@pytest.mark.usefixtures("analyze")
def test_unit_errors_from_systemd_are_returned(here):
    found = service.verify_unit(unit(here).replace("Type=notify", "Type=notify\nWatchdogSec=soon"))
    assert len(found) == 1
    assert "soon" in found[0]
    gone = Place(Path("/no/such/moccasin-mat"))
    assert any("/no/such/moccasin-mat" in line for line in service.verify_unit(unit(gone)))


def test_unit_watches_the_game_loop(here):
    text = unit(here)
    for line in ("Type=notify", f"WatchdogSec={WATCHDOG_S}", "Restart=always", "StartLimitIntervalSec=0"):
        assert f"\n{line}\n" in text


def test_running_units_have_a_memory_limit():
    texts = {path.name: path.read_text("utf-8") for path in service_unit._UNITS.glob("*.service")}
    staying = {name for name, text in texts.items() if "ExecStart=" in text and "Type=oneshot" not in text}
    assert {name for name in staying if "\nMemoryHigh=" in texts[name]} == staying


@pytest.mark.usefixtures("analyze")
def test_path_with_spaces_and_percents_is_quoted(tmp_path):
    program = tmp_path / "a b%n" / "moccasin-mat"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", "utf-8")
    program.chmod(0o755)
    assert service.verify_unit(unit(Place(program))) == []


@pytest.mark.parametrize("name", ["a\nExecStartPre=rm", "a'b", 'a"b', "a\\b", "$HOME"])
def test_path_invalid_in_a_unit_is_refused(name):
    with pytest.raises(SetupError, match="cannot be written in a unit"):
        unit(Place(Path("/opt") / name))


def test_home_is_readable_for_programs_in_it():
    def at(program):
        return unit(Place(Path(program)))

    assert "\nProtectHome=read-only\n" in at(Path("/", "home", "ann", "venv/bin/moccasin-mat"))
    assert "\nProtectHome=yes\n" in at("/opt/moccasin-mat/bin/moccasin-mat")


def test_the_service_may_open_the_loudspeaker(here):
    text = unit(here)
    assert "\nDeviceAllow=char-alsa rw\n" in text
    assert "audio" in re.search(r"^SupplementaryGroups=(.*)$", text, re.MULTILINE)[1].split()


def test_unreachable_program_names_the_closed_folder():
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are closed to others
        home = Path(folder) / "ann"
        (home / "bin").mkdir(parents=True)
        for name in ("python", "moccasin-mat"):
            (home / "bin" / name).touch(mode=0o755)
        assert find_closed_path(home / "bin/moccasin-mat") == Path(folder)
        Path(folder).chmod(0o755)
        assert find_closed_path(home / "bin/moccasin-mat") is None
        home.chmod(0o700)
        assert find_closed_path(home / "bin/moccasin-mat") == home


def test_there_are_descriptors_for_all_that_may_come(here):
    found = re.findall(r"^LimitNOFILE=(\d+)$", unit(here), re.MULTILINE)
    assert [int(limit) >= MAX_CONNECTIONS + MAX_KEPT_CONNECTIONS + SPARE for limit in found] == [True]
