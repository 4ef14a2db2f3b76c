"""The settings page of a system service asks the machine, and a unit of the machine saves."""

import os
import re

import msgspec
import pytest

from pi_controller.card.kiosk import serving_unit
from pi_controller.card.plan import plan
from pi_controller.card.service import verify_unit
from pi_controller.card.service_unit import RUN
from pi_controller.card.settings_request import MAX_BYTES, accept, changes
from pi_controller.config.edit import EditError, StaleError, read_written
from pi_controller.config.request import ANSWER, ANSWER_S, REQUEST, SaveRequest, ask, saver
from pi_controller.errors import SettingsError
from pi_controller.host.place import make_place


@pytest.fixture
def here(tmp_path):
    here = make_place(tmp_path / "root")
    for folder in (RUN, here.settings_folder):
        here.on_disk(folder).mkdir(parents=True)
    here.on_disk(here.settings).write_text('[web]\nlanguage = "en"\n', "utf-8")
    return here


def settings(here):
    return read_written(here.on_disk(here.settings))


def save(here, wanted, version=None):
    """Save as the page does; the unit runs while the page waits."""
    request = here.on_disk(RUN / REQUEST.file)
    asked = SaveRequest(os.urandom(4).hex(), version or settings(here)[1], wanted)

    def unit_runs(seconds):
        accept(here)
        request.unlink()

    return ask(asked, request, here.on_disk(here.settings).with_name(ANSWER), unit_runs)


def test_the_machine_saves_for_the_page(here):
    assert save(here, {"web.event": "Gathering"}) == settings(here)[1]
    assert settings(here)[0].web.event == "Gathering"


def test_refused_request_returns_its_error(here):
    before = here.on_disk(here.settings).read_bytes()
    with pytest.raises(EditError) as error:
        save(here, {"strips.pin": 99})
    assert set(error.value.issues) == {"strips.pin"}
    issue = error.value.issues["strips.pin"]
    assert issue.template != str(issue), "a page can translate it"
    with pytest.raises(StaleError):
        save(here, {"web.event": "x"}, "another")
    with pytest.raises(EditError) as error:
        save(here, {"table.journal": "/etc/shadow"})
    assert "table.journal" in error.value.issues
    assert here.on_disk(here.settings).read_bytes() == before


def test_an_answer_to_somebody_else_is_none(here):
    answer = here.on_disk(here.settings).with_name(ANSWER)
    answer.write_bytes(msgspec.json.encode({"number": "other", "version": "new"}))
    waits = []
    with pytest.raises(EditError):
        ask(SaveRequest("mine", "v", {}), here.on_disk(RUN / REQUEST.file), answer, waits.append)
    assert sum(waits) == pytest.approx(ANSWER_S)
    unit = serving_unit(REQUEST, program="p", writable="w")
    assert sum(waits) > int(re.search(r"TimeoutStartSec=(\d+)", unit)[1]), "what the page says afterwards holds"


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b'{"number": 1}', b"[" * 5000, b" " * (MAX_BYTES + 1)])
def test_a_request_can_hold_anything(here, content):
    here.on_disk(RUN / REQUEST.file).write_bytes(content)
    with pytest.raises(SettingsError):
        accept(here)
    assert settings(here)[0].web.event == ""


def test_a_link_or_a_pipe_is_no_request(here, tmp_path):
    request = here.on_disk(RUN / REQUEST.file)
    (tmp_path / "real").write_bytes(msgspec.json.encode(SaveRequest("1", settings(here)[1], {"web.event": "x"})))
    request.symlink_to(tmp_path / "real")
    with pytest.raises(SettingsError):
        accept(here)
    request.unlink()
    os.mkfifo(request)
    with pytest.raises(SettingsError):
        accept(here)


def test_without_the_unit_the_table_saves_itself(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text("", "utf-8")
    saver(path, "")({"web.event": "Gathering"}, read_written(path)[1])
    assert read_written(path)[0].web.event == "Gathering"


def test_setup_installs_the_unit(here):
    planned = {change.path for change in plan(here).changes}
    assert {REQUEST.path, REQUEST.service} <= planned
    mine = {change.path: change for change in changes(here)}
    assert f"PathExists={RUN / REQUEST.file}" in mine[REQUEST.path].text
    text = mine[REQUEST.service].text
    assert "service save" in text
    assert verify_unit(text.replace(str(here.program), "/bin/true"), REQUEST.service.name) == []
