"""A card becomes a table, a hub, or both by its page; the machine's unit and its start are real, in a folder."""

import socket
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from card_machine import CardMachine
from judge_house import PIN, cheap

from pi_controller.card import first_start
from pi_controller.card.first_start import parse_join_text
from pi_controller.config import read_settings, request
from pi_controller.errors import MatError, UsageError
from pi_controller.hub import join_table
from pi_controller.hub.join import Account, JoinError
from pi_controller.hub.settings import STORE, load_hub
from pi_controller.hub.setup import write_certificates
from pi_controller.hub.tokens import Tokens
from pi_controller.web.users import FILE as USERS
from pi_controller.web.users import Users

CODE = "0000-0000-0000-0000-0000"


@pytest.fixture
def machine(tmp_path):
    made = CardMachine(tmp_path)
    yield made
    made.close()


@pytest.fixture
def account(tmp_path):
    folder = tmp_path / "venue"
    folder.mkdir()
    write_certificates(folder, "hall", ["10.42.0.1"], first_start.datetime.now(first_start.UTC))
    return Account("10.42.0.1", 8443, "hall", "t02", "secret of t02", (folder / "ca.crt").read_text())


def test_first_start_has_own_network_and_no_use(machine):
    card = machine.desk.describe()
    assert (card.use, card.chosen, card.network, card.wifi) == ("", False, "own", True)
    assert card.name.startswith("Moccasin Mat ")
    assert card.password
    assert card.password not in repr(card)


def test_one_table_keeps_the_network_and_its_password(machine):
    before = machine.desk.describe()
    done = machine.apply("table")
    assert (done.restarts, done.network, done.password) == ("machine", before.name, before.password)
    after = machine.desk.describe()
    assert (after.use, after.chosen, after.name, after.country) == ("table", True, before.name, "US")
    assert machine.apply("table").restarts == "table"
    assert machine.desk.describe() == after


def test_former_machine_file_is_saved_and_private(machine):
    path = machine.file.with_name("machine.toml")
    before = path.read_bytes()
    machine.apply("table")
    kept = path.with_name("machine.toml.before")
    assert kept.read_bytes() == before
    for one in (path, kept):
        assert one.stat().st_mode & 0o077 == 0


def test_table_joins_hub_wifi_before_its_code(machine, account, monkeypatch):
    monkeypatch.setattr(join_table, "request_account", lambda *_: account)
    done = machine.apply("gathering", "join", name="Hub", password="correct horse")
    assert (done.code_later, done.restarts, done.password) == (True, "machine", "")
    assert (machine.machine.wifi.network, machine.machine.wifi.own) == ("Hub", False)
    card = machine.desk.describe()
    assert (card.use, card.chosen, card.network, card.password) == ("gathering", False, "join", "")
    done = machine.apply("gathering", "join", name="Hub", code=f"10.42.0.1 {CODE}")
    assert not done.code_later
    assert machine.machine.wifi.password == "correct horse", "an empty field keeps it"
    hub = read_settings(machine.file).hub
    assert (hub.address, hub.table) == ("10.42.0.1", "t02")
    assert read_settings(machine.file).table.name == "Table 2"
    assert Path(hub.token_file).read_text().strip() == account.token
    assert Path(hub.token_file).stat().st_mode & 0o077 == 0
    assert machine.desk.describe().use == "gathering"


def test_table_without_new_code_keeps_its_hub(machine, account, monkeypatch):
    monkeypatch.setattr(join_table, "request_account", lambda *_: account)
    machine.apply("gathering", code=f"10.42.0.1 {CODE}")
    before = read_settings(machine.file).hub
    machine.apply("gathering", country="CA")
    assert read_settings(machine.file).hub == before
    assert machine.desk.describe().country == "CA"


def test_a_table_leaves_the_hub(machine, account, monkeypatch):
    monkeypatch.setattr(join_table, "request_account", lambda *_: account)
    machine.apply("gathering", code=f"10.42.0.1 {CODE}")
    machine.apply("table")
    assert read_settings(machine.file).hub.address == ""
    assert machine.desk.describe().use == "table"


@pytest.mark.parametrize("use", ["hub", "both"])
def test_new_hub_has_files_and_head_judge_account(machine, use, monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "moccasin-mat")
    assert machine.apply(use).restarts == "machine"
    assert (machine.folders.run / "hub").exists()
    assert machine.machine.name == "mat-hub"
    folder = machine.state / "hub"
    hub = load_hub(folder)
    assert (hub.venue.address, hub.page.host, hub.page.plain_sign_in) == ("10.42.0.1", "0.0.0.0", False)
    with closing(Users(folder / USERS)) as users:
        assert [(one.name, one.role) for one in users.list_users()] == [("Ann", "head")]
        assert cheap().verify(users.find_by_name("Ann")[1], PIN)
    own = read_settings(machine.file).hub
    assert (own.address, own.table) == (("127.0.0.1", "t01") if use == "both" else ("", ""))
    card = machine.desk.describe()
    assert card.use == use
    assert len(card.fingerprint.split(":")) == 32
    monkeypatch.setattr(socket, "gethostname", lambda: "mat-hub")
    machine.apply("table")
    assert not (machine.folders.run / "hub").exists()
    assert machine.machine.name == "moccasin-mat"
    assert read_settings(machine.file).hub.address == ""


def test_hub_chosen_again_keeps_tokens_and_updates_pin(machine):
    machine.apply("both")
    folder = machine.state / "hub"
    token = (folder / "t01.token").read_text().strip()
    ann = machine.users.find_by_name("Ann")[0]
    machine.users.give_pin(ann.id, cheap().hash("246802"))
    machine.apply("hub")
    with closing(Tokens(folder / STORE)) as tokens:
        assert tokens.is_valid("t01", token)
    with closing(Users(folder / USERS)) as users:
        assert cheap().verify(users.find_by_name("Ann")[1], "246802")


BAD = [
    {"use": "table", "country": ""},
    {"use": "table", "country": "usa"},
    {"use": "gathering"},
    {"use": "gathering", "code": "10.42.0.1"},
    {"use": "gathering", "code": "10.42.0.1 0000-0000"},
    {"use": "gathering", "code": f"no/address {CODE}"},
    {"use": "table", "network": "join"},
    {"use": "table", "network": "join", "name": "n" * 33},
    {"use": "table", "network": "join", "name": "Hall", "password": "short"},
]


@pytest.mark.parametrize("choice", BAD)
def test_bad_input_has_a_hint_and_no_effect(machine, choice):
    before, files = machine.content(), sorted(machine.state.rglob("*"))
    with pytest.raises(MatError) as error:
        machine.apply(**choice)
    assert error.value.hint
    assert "short" not in f"{error.value.message} {error.value.hint}"
    assert machine.content() == before
    assert sorted(machine.state.rglob("*")) == files
    assert machine.restarts == []


def test_a_machine_without_wifi_says_so(tmp_path):
    made = CardMachine(tmp_path, wifi=False)
    try:
        card = made.desk.describe()
        assert (card.wifi, card.network) == (False, "cable")
        for network in ("own", "join"):
            with pytest.raises(UsageError, match="no Wi-Fi"):
                made.apply("table", network, name="Hall")
        made.apply("table", "cable", country="")
        assert made.desk.describe().use == "table"
        assert made.machine.wifi.own is False
    finally:
        made.close()


def test_a_table_on_a_cable_joins_at_once(tmp_path, account, monkeypatch):
    monkeypatch.setattr(join_table, "request_account", lambda *_: account)
    made = CardMachine(tmp_path, wifi=False)
    try:
        done = made.apply("gathering", "cable", country="", code=f"10.42.0.1 {CODE}")
        assert not done.code_later
        assert made.desk.describe().use == "gathering"
    finally:
        made.close()


def test_unsaved_account_leaves_the_former_account(machine, account, monkeypatch):
    monkeypatch.setattr(join_table, "request_account", lambda *_: account)
    machine.apply("gathering", code=f"10.42.0.1 {CODE}")
    token = machine.state / join_table.TOKEN
    before, content = token.read_bytes(), machine.content()
    monkeypatch.setattr(
        join_table, "request_account", lambda *_: msgspec.structs.replace(account, table="t 03", token="other")
    )
    with pytest.raises(MatError):
        machine.apply("gathering", code=f"10.42.0.1 {CODE}")
    assert token.read_bytes() == before
    content.pop(request.ANSWER)
    assert {name: text for name, text in machine.content().items() if name != request.ANSWER} == content


def test_failed_join_leaves_the_card_unchanged(machine, monkeypatch):
    def refuse(*_):
        raise JoinError("the hub does not answer", "check the address")

    monkeypatch.setattr(join_table, "request_account", refuse)
    before = machine.content()
    with pytest.raises(JoinError):
        machine.apply("gathering", code=f"10.42.0.1 {CODE}")
    assert machine.content() == before
    assert not (machine.state / join_table.TOKEN).exists()


def test_no_line_of_the_log_has_a_password(machine, caplog):
    machine.apply("table", "join", name="Hall", password="correct horse")
    secret = machine.machine.wifi.password
    machine.apply("table", "own")
    assert machine.machine.wifi.password not in {secret, ""}
    for password in (secret, machine.machine.wifi.password):
        assert not any(password in line for line in [*machine.lines, caplog.text])
    answer = machine.file.with_name(request.ANSWER).read_text()
    assert machine.machine.wifi.password not in answer


@pytest.mark.parametrize(
    "changes", [{"screen.rotate": 90}, {"zone": "UTC"}, {"wifi.own": "yes"}, {"name": "A B"}, {"hub": {"x": 1}}]
)
def test_unit_refuses_unknown_keys_and_invalid_values(machine, changes):
    before = machine.file.with_name("machine.toml").read_bytes()
    with pytest.raises(MatError):
        machine.ask(changes, {})
    assert machine.file.with_name("machine.toml").read_bytes() == before
    assert machine.restarts == [False]


def test_both_files_or_none_are_written(machine):
    before = machine.content()
    with pytest.raises(MatError):
        machine.ask({"hub": False}, {"address": "10.42.0.1"})
    with pytest.raises(MatError):
        machine.ask({"wifi.own": "yes"}, {"address": ""})
    content = machine.content()
    content.pop(request.ANSWER)
    assert content == before


@pytest.mark.parametrize("text", ["moccasin-mat hub join 10.42.0.1 {}", "10.42.0.1 {}", "  10.42.0.1   {} \n"])
def test_join_text_is_console_command_or_its_end(text):
    address, code = parse_join_text(text.format(CODE))
    assert (address, str(code)) == ("10.42.0.1", CODE)
    assert parse_join_text(text.format(CODE.replace("-", " ").lower())) == (address, code)
