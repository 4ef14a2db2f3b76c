"""`moccasin-mat hub`: what setup writes, and the page of all tables."""

import json
import re
from datetime import UTC, datetime

import msgspec
import pytest

from pi_controller.cli.hub import hub as main
from pi_controller.cli.hub import hub as verb
from pi_controller.config import read_settings
from pi_controller.display.i18n import ENGLISH
from pi_controller.errors import SettingsError, UsageError
from pi_controller.host.machine_health import MachineHealth
from pi_controller.hub.hub import TableStatus
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import Events, Health, Hello, SentGame, SentRecord
from pi_controller.hub.settings import load_hub
from pi_controller.hub.setup import write_hub_files
from pi_controller.hub.table_cards import describe_troubles, format_judge_requests, tables_markup
from pi_controller.journal.chain import JournalRow, chain_rows, genesis
from pi_controller.table.view import QuestionView


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_setup_again_keeps_the_venue_key(tmp_path, capsys):
    setup = ["setup", str(tmp_path / "hub"), "--host", "192.0.2.7"]
    assert main(setup) == 0
    assert "hub run" in capsys.readouterr().out
    first = files(tmp_path / "hub")
    assert main(setup) == 0
    second = files(tmp_path / "hub")
    assert sorted(first) == sorted(second) == ["ca.crt", "ca.key", "hub.toml", "server.crt", "server.key"]
    assert {name for name in first if first[name] != second[name]} == {"server.crt", "server.key"}
    found = load_hub(tmp_path / "hub")
    assert (found.venue.address, found.page.host) == ("192.0.2.7", "0.0.0.0")
    for name in ("ca.key", "server.key"):
        assert (tmp_path / "hub" / name).stat().st_mode & 0o077 == 0


def test_setup_again_keeps_people_own_settings(tmp_path):
    write_hub_files(tmp_path, "hall", ["localhost"], datetime.now(UTC))
    assert load_hub(tmp_path).page.host == "127.0.0.1", "a hub for this machine alone"
    with (tmp_path / "hub.toml").open("a") as settings:
        settings.write(
            '# for the hall\n[page]\nhost = "0.0.0.0" # everybody\n\n[store]\ndatabase = "postgresql://db/mat"\n'
        )
    for _ in range(2):
        write_hub_files(tmp_path, "hall", ["192.0.2.7"], datetime.now(UTC))
    found = load_hub(tmp_path)
    assert (found.page.host, found.store.database) == ("0.0.0.0", "postgresql://db/mat")
    assert found.venue.address == "192.0.2.7"
    assert (tmp_path / "hub.toml").read_text().count("# everybody") == 1


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ('address = "hub.example"', "table: is missing"),
        ('address = "hub.example"\ntable = "t01"\ntoken_file = "x"', "ca: is missing"),
        ('table = "Table 1"', "small letters"),
    ],
)
def test_incomplete_hub_settings_are_refused(tmp_path, lines, fault):
    path = tmp_path / "table.toml"
    path.write_text(f"[hub]\n{lines}\n")
    with pytest.raises(SettingsError, match=fault):
        read_settings(path)


@pytest.mark.parametrize(
    "args",
    [
        *(["setup", "x", "--venue", "My Hall"], ["setup", "x", "--teams", "9"], ["accept", "x"], ["run", "x", "t01"]),
        *(["demo", *more] for more in (["--teams", "1"], ["--tables", "17"], ["--pace", "-1"], ["run"])),
        *([], ["--demo"], ["run", "x", "--pace", "3"]),
    ],
)
def test_invalid_arguments_leave_the_folder_empty(tmp_path, monkeypatch, args):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError):
        main(args)
    assert files(tmp_path) == {}


def test_accept_lets_a_refused_table_in(tmp_path, capsys):
    first, other = (Hello((SentGame(word * 32, 1),)) for word in "ab")
    (row,) = chain_rows(genesis("a" * 32), [JournalRow(1, 1, 0.25, "ready", "{}")])
    with Inbox(tmp_path / "hub.sqlite") as inbox:
        inbox.store_messages(1.0, [("t01", first), ("t01", Events("a" * 32, (SentRecord(*row),))), ("t01", other)])
    assert verb(["tables", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["tables"]["t01"]["a" * 32] == 1
    assert [(alarm["table"], alarm["about"]) for alarm in told["alarms"]] == [("t01", "replaced")]
    assert verb(["accept", str(tmp_path), "t01"]) == 0
    assert "accepted" in capsys.readouterr().out
    assert verb(["accept", str(tmp_path), "t01"]) == 0
    assert "there is no refused journal" in capsys.readouterr().out


@pytest.fixture
def shown(view):
    asked = view(question=QuestionView("found", ("found", "missed"), (2,)))
    return (
        TableStatus("t01", "Table 1", "ready", view()),
        TableStatus("t02", "<b>Table 2</b>", "ready", asked),
        TableStatus("t03", "Table 3", "lost", view(), "replaced"),
        TableStatus("t04"),
    )


def test_page_shows_score_state_and_judge_requests(shown):
    html = tables_markup(shown, ENGLISH)
    assert re.findall(r'data-state="(\w+)" data-wanted="(\w*)"', html) == [
        ("ready", ""), ("ready", "yes"), ("lost", ""), ("lost", ""),
    ]  # fmt: skip
    assert "Big Coulee" in html
    assert "<b>Table 2</b>" not in html
    assert "a different journal than before" in html
    assert format_judge_requests(shown, ENGLISH).startswith("<b>Table 2</b>: ")


@pytest.mark.parametrize(
    ("machine", "clock_s", "said"),
    [
        (MachineHealth(52.0, False, False, 10**9, 0), 0.4, []),
        (MachineHealth(), None, []),
        (MachineHealth(under_voltage=True, under_voltage_since_start=True), None, ["supply is too weak"]),
        (MachineHealth(under_voltage=False, under_voltage_since_start=True), None, ["was too weak"]),
        (MachineHealth(81.0, free_bytes=90_000_000, fs_errors=2), 0.0, ["81 °C", "90 MB left", "another card"]),
        (MachineHealth(), -75.2, ["75 s behind"]),
        (MachineHealth(), 3600.0, ["3600 s ahead"]),
    ],
)
def test_machine_troubles_are_on_the_table_card(machine, clock_s, said):
    table = TableStatus("t01", state="ready", health=Health(1.0, machine), clock_s=clock_s)
    found = describe_troubles(table, ENGLISH)
    assert len(found) == len(said)
    assert all(word in line for word, line in zip(said, found, strict=True))
    assert all(line in tables_markup([table], ENGLISH) for line in found)
    assert describe_troubles(msgspec.structs.replace(table, state="lost"), ENGLISH) == []


@pytest.mark.parametrize(
    ("state", "ago", "said"),
    [
        ("ready", None, ""),
        ("ready", 39.9, ""),
        ("ready", 44.0, "Last contact 40 s ago"),
        ("ready", 200.0, "Last contact 3 min ago"),
        ("lost", None, ""),
        ("lost", 9.0, ""),
        ("lost", 25.0, "Last contact 20 s ago"),
        ("stopped", 3 * 3600.0, "Last contact 3 h ago"),
        ("ready", -5.0, ""),
    ],
)
def test_card_shows_time_since_last_contact(state, ago, said):
    table = TableStatus("t01", state=state, heard=None if ago is None else 1000.0 - ago)
    shown = tables_markup([table], ENGLISH, now=1000.0)
    assert re.findall(r'class="heard">(.*?)<', shown) == [said] * bool(said)


def test_only_a_disconnected_mat_is_trouble():
    for mat, told in ((None, False), (True, False), (False, True)):
        table = TableStatus("t01", state="ready", mat=mat)
        assert ("Its mat is not connected." in tables_markup([table], ENGLISH)) is told
    assert describe_troubles(TableStatus("t01", state="lost", mat=False), ENGLISH) == []


def test_page_without_tables_says_so():
    assert "No tables yet" in tables_markup((), ENGLISH)


def test_view_survives_encoding(shown):
    view = shown[1].view
    assert msgspec.json.decode(msgspec.json.encode(view), type=type(view)) == view
