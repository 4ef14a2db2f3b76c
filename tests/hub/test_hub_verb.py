"""`moccasin-mat hub`: what setup writes, and the page of all tables."""

import re
from datetime import UTC, datetime

import msgspec
import pytest
from linked_table import VENUE
from mosquitto import needs_mosquitto

from pi_controller.cli.hub import hub as main
from pi_controller.cli.hub import hub as verb
from pi_controller.config import read_settings
from pi_controller.errors import SettingsError, UsageError
from pi_controller.host.machine_health import MachineHealth
from pi_controller.hub.boards import describe_troubles, format_judge_requests, tables_markup
from pi_controller.hub.hub import TableStatus
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import Events, Health, Hello, SentGame, SentRecord
from pi_controller.hub.settings import load_hub
from pi_controller.hub.setup import write_hub_files
from pi_controller.journal.file import JournalRow, chain_rows, genesis
from pi_controller.table.view import QuestionView


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@needs_mosquitto
def test_setup_again_keeps_every_key_and_adds_tables(tmp_path, capsys):
    assert main(["setup", str(tmp_path / "hub"), "--tables", "2", "--host", "192.0.2.7"]) == 0
    assert 'address = "192.0.2.7"' in capsys.readouterr().out
    first = files(tmp_path / "hub")
    assert main(["setup", str(tmp_path / "hub"), "--tables", "3", "--host", "192.0.2.7"]) == 0
    second = files(tmp_path / "hub")
    kept = {"ca.key", "ca.crt", "hub.password", "tables/t01/password", "tables/t02/password"}
    assert all(first[name] == second[name] for name in kept)
    assert "tables/t03/password" in second
    assert load_hub(tmp_path / "hub").broker.address == "192.0.2.7"


@needs_mosquitto
def test_setup_again_keeps_people_own_settings(tmp_path):
    write_hub_files(tmp_path, VENUE, ["t01"], ["localhost"], 8883, datetime.now(UTC))
    with (tmp_path / "hub.toml").open("a") as settings:
        settings.write(
            '# for the hall\n[page]\nhost = "0.0.0.0" # everybody\n\n[store]\ndatabase = "postgresql://db/mat"\n'
        )
    for _ in range(2):
        write_hub_files(tmp_path, VENUE, ["t01"], ["192.0.2.7"], 8884, datetime.now(UTC))
    found = load_hub(tmp_path)
    assert (found.page.host, found.store.database) == ("0.0.0.0", "postgresql://db/mat")
    assert (found.broker.address, found.broker.port) == ("192.0.2.7", 8884)
    assert (tmp_path / "hub.toml").read_text().count("# everybody") == 1


def test_table_named_hub_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no table can be called hub"):
        write_hub_files(tmp_path, VENUE, ["hub"], ["localhost"], 8883, datetime.now(UTC))


@needs_mosquitto
def test_no_password_is_anothers_or_readable_by_others(tmp_path):
    write_hub_files(tmp_path, VENUE, ["t01", "t02"], ["localhost"], 8883, datetime.now(UTC))
    passwords = [path.read_text() for path in (tmp_path.rglob("*password"))]
    assert len(set(passwords)) == len(passwords) == 3
    for path in (*tmp_path.rglob("*password"), tmp_path / "ca.key", tmp_path / "server.key", tmp_path / "passwords"):
        assert path.stat().st_mode & 0o077 == 0, path
    assert not any(password.strip() in (tmp_path / "passwords").read_text() for password in passwords)


@needs_mosquitto
def test_setup_writes_settings_of_each_table(tmp_path):
    write_hub_files(tmp_path, VENUE, ["t01", "t12", "door"], ["hub.example"], 8883, datetime.now(UTC))
    files = [tmp_path / "tables" / table / "hub.toml" for table in ("t01", "t12", "door")]
    assert [read_settings(path).table.name for path in files] == ["Table 1", "Table 12", "door"]
    hub = read_settings(tmp_path / "tables" / "t01" / "hub.toml").hub
    assert (hub.address, hub.venue, hub.table) == ("hub.example", VENUE, "t01")
    assert hub.password_file == str(tmp_path / "tables" / "t01" / "password")


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ('address = "hub.example"', "table: is missing"),
        ('address = "hub.example"\ntable = "t01"', "ca: is missing"),
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
        *(["setup", "x", "--tables", "65"], ["setup", "x", "--venue", "My Hall"], ["accept", "x"], ["run", "x", "t01"]),
        *(["--demo", *more] for more in (["--teams", "1"], ["--tables", "17"], ["--pace", "-1"], ["run"])),
    ],
)
def test_invalid_arguments_leave_the_folder_empty(tmp_path, monkeypatch, args):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError):
        main(args)
    assert files(tmp_path) == {}


def test_accept_lets_a_refused_table_in(tmp_path, capsys):
    first, other = (Hello(word * 2, (SentGame(word * 32, 1),)) for word in "ab")
    (row,) = chain_rows(genesis("a" * 32), [JournalRow(1, 1, 0.25, "ready", "{}")])
    with Inbox(tmp_path / "hub.sqlite") as inbox:
        inbox.store_messages(1.0, [("t01", first), ("t01", Events("a" * 32, (SentRecord(*row),))), ("t01", other)])
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
    html = tables_markup(shown)
    assert re.findall(r'data-state="(\w+)" data-wanted="(\w*)"', html) == [
        ("ready", ""), ("ready", "yes"), ("lost", ""), ("lost", ""),
    ]  # fmt: skip
    assert "Big Coulee" in html
    assert "<b>Table 2</b>" not in html
    assert "a different journal than before" in html
    assert format_judge_requests(shown).startswith("<b>Table 2</b>: ")


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
    found = describe_troubles(table)
    assert len(found) == len(said)
    assert all(word in line for word, line in zip(said, found, strict=True))
    assert all(line in tables_markup([table]) for line in found)
    assert describe_troubles(msgspec.structs.replace(table, state="lost")) == []


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
    shown = tables_markup([table], now=1000.0)
    assert re.findall(r'class="heard">(.*?)<', shown) == [said] * bool(said)


def test_only_a_disconnected_mat_is_trouble():
    for mat, told in ((None, False), (True, False), (False, True)):
        table = TableStatus("t01", state="ready", mat=mat)
        assert ("Its mat is not connected." in tables_markup([table])) is told
    assert describe_troubles(TableStatus("t01", state="lost", mat=False)) == []


def test_page_without_tables_says_so():
    assert "No tables yet" in tables_markup(())


def test_view_survives_encoding(shown):
    view = shown[1].view
    assert msgspec.json.decode(msgspec.json.encode(view), type=type(view)) == view
