"""A card becomes a table, a hub, or both by its page; the machine's unit and its start are real, in a folder."""

import importlib.util
import os
import shutil
import socket
import sys
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from brokers import needs_mosquitto
from judge_house import PIN, cheap

from pi_controller.config import read_settings
from pi_controller.errors import MatError, UsageError
from pi_controller.hub import first_start, join
from pi_controller.hub.first_start import CardDesk, parse_join_text
from pi_controller.hub.join import Account, JoinError
from pi_controller.hub.settings import load_hub
from pi_controller.hub.setup import write_certificates
from pi_controller.system import settings_request
from pi_controller.system.install import RUN
from pi_controller.system.place import make_place
from pi_controller.web.accounts import FILE as USERS
from pi_controller.web.accounts import Users
from pi_controller.web.start_page import StartChoice

CARD = Path(__file__).parents[2] / "hardware/image/files/usr/local/lib/moccasin-mat/card.py"
CODE = "0000-0000-0000-0000-0000"
FIRST = '[board]\nport = "none"\n[web]\njudges = true\n'


def load_card():
    spec = importlib.util.spec_from_file_location("card_at_start", CARD)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class Machine:
    """A card in a folder: its start, its unit for requests, its table's users, and the page's desk."""

    def __init__(self, folder, *, wifi=True):
        self.place = make_place(system=True, root=folder / "root")
        on_disk = self.place.on_disk
        self.state, self.file = on_disk(self.place.state), on_disk(self.place.settings)
        for path in (self.state, self.file.parent, on_disk(RUN), folder / "boot", folder / "state", folder / "run"):
            path.mkdir(parents=True)
        self.card = load_card()
        self.folders = self.card.Card(folder / "boot", self.file.parent, folder / "state", folder / "run")
        self.journal = self.state / "table.sqlite"
        self.file.write_text(f'[table]\njournal = "{self.journal}"\n{FIRST}', "utf-8")
        self.devices = folder / "devices"
        if wifi:
            (self.devices / "sys/class/net/wlan0/wireless").mkdir(parents=True)
        self.users = Users(self.state / USERS)
        kept = cheap().hash(PIN)
        for name, role in (("Ann", "head"), ("Jo", "judge")):
            self.users.add(name, role, kept)
        self.restarts = []
        self.start()

    def start(self):
        """Start the machine as card.py does."""
        for path in self.folders.run.iterdir():
            path.unlink()
        machine, _ = self.card.take_machine(self.folders)
        self.machine = self.card.open_first_network(self.folders, machine)
        self.card.write_machine_files(self.folders, self.machine, os.getgid())

    @property
    def desk(self):
        settings = read_settings(self.file)
        return CardDesk(settings, self.file, self.users, self.ask, run=self.folders.run, root=self.devices)

    def ask(self, machine, hub):
        request = self.place.on_disk(RUN / settings_request.REQUEST.file)

        def unit_runs(_):
            line, restarts = settings_request.accept(self.place)
            self.restarts.append(restarts)
            self.lines = [*getattr(self, "lines", []), line]
            request.unlink()

        asked = settings_request.SaveRequest(
            os.urandom(4).hex(), settings_request.edit.version_of(self.file.read_text()), {}, dict(machine), dict(hub)
        )
        settings_request.ask(asked, request, self.file.with_name(settings_request.ANSWER), unit_runs)

    def apply(self, use, network="own", **more):
        """Choose, and start the machine again if it is to."""
        done = self.desk.apply(StartChoice(use, network, **{"country": "US", **more}))
        assert self.restarts[-1] == (done.restarts == "machine")
        if done.restarts == "machine":
            self.start()
        return done

    def content(self):
        return {path.name: path.read_bytes() for path in sorted(self.file.parent.iterdir()) if path.is_file()}

    def close(self):
        self.users.close()


@pytest.fixture
def machine(tmp_path):
    made = Machine(tmp_path)
    yield made
    made.close()


@pytest.fixture
def account(tmp_path):
    folder = tmp_path / "venue"
    folder.mkdir()
    write_certificates(folder, "hall", ["10.42.0.1"], first_start.datetime.now(first_start.UTC))
    return Account("10.42.0.1", 8883, "hall", "t02", "secret of t02", (folder / "ca.crt").read_text())


def test_a_first_start_has_a_network_and_no_choice(machine):
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


def test_the_file_before_is_kept_and_private(machine):
    path = machine.file.with_name("machine.toml")
    before = path.read_bytes()
    machine.apply("table")
    kept = path.with_name("machine.toml.before")
    assert kept.read_bytes() == before
    for one in (path, kept):
        assert one.stat().st_mode & 0o077 == 0


def test_a_table_moves_to_the_hubs_wifi_first_and_is_asked_for_the_code_there(machine, account, monkeypatch):
    monkeypatch.setattr(join, "request_account", lambda *_: account)
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
    assert Path(hub.password_file).read_text().strip() == account.password
    assert Path(hub.password_file).stat().st_mode & 0o077 == 0
    assert machine.desk.describe().use == "gathering"


def test_a_table_leaves_the_hub(machine, account, monkeypatch):
    monkeypatch.setattr(join, "request_account", lambda *_: account)
    machine.apply("gathering", code=f"10.42.0.1 {CODE}")
    machine.apply("table")
    assert read_settings(machine.file).hub.address == ""
    assert machine.desk.describe().use == "table"


@needs_mosquitto
@pytest.mark.parametrize("use", ["hub", "both"])
def test_a_hub_has_its_files_and_the_head_judge_as_director(machine, use, monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "moccasin-mat")
    assert machine.apply(use).restarts == "machine"
    assert (machine.folders.run / "hub").exists()
    assert machine.machine.name == "mat-hub"
    folder = machine.state / "hub"
    hub = load_hub(folder)
    assert (hub.broker.address, hub.page.host, hub.page.plain_sign_in) == ("10.42.0.1", "0.0.0.0", False)
    with closing(Users(folder / USERS)) as users:
        assert [(one.name, one.role) for one in users.list_users()] == [("Ann", "head")]
        assert cheap().verify(users.find_by_name("Ann")[1], PIN)
    own = read_settings(machine.file).hub
    assert (own.address, own.table) == (("127.0.0.1", "t01") if use == "both" else ("", ""))
    assert machine.desk.describe().use == use
    monkeypatch.setattr(socket, "gethostname", lambda: "mat-hub")
    machine.apply("table")
    assert not (machine.folders.run / "hub").exists()
    assert machine.machine.name == "moccasin-mat"
    assert read_settings(machine.file).hub.address == ""


@needs_mosquitto
def test_a_hub_that_is_chosen_again_keeps_its_accounts_and_gets_a_new_pin(machine):
    machine.apply("both")
    folder = machine.state / "hub"
    secret = (folder / "tables/t01/password").read_bytes()
    ann = machine.users.find_by_name("Ann")[0]
    machine.users.give_pin(ann.id, cheap().hash("246802"))
    machine.apply("hub")
    assert (folder / "tables/t01/password").read_bytes() == secret
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
def test_bad_input_says_what_to_do_and_changes_nothing(machine, choice):
    before, files = machine.content(), sorted(machine.state.rglob("*"))
    with pytest.raises(MatError) as error:
        machine.apply(**choice)
    assert error.value.hint
    assert "short" not in f"{error.value.message} {error.value.hint}"
    assert machine.content() == before
    assert sorted(machine.state.rglob("*")) == files
    assert machine.restarts == []


def test_a_machine_without_wifi_says_so(tmp_path):
    made = Machine(tmp_path, wifi=False)
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


def test_without_mosquitto_the_card_says_what_it_lacks(machine, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    before = machine.content()
    with pytest.raises(UsageError, match="Mosquitto"):
        machine.apply("hub")
    assert machine.content() == before
    assert not (machine.state / "hub").exists()


def test_an_account_that_cannot_be_saved_leaves_the_former_one(machine, account, monkeypatch):
    monkeypatch.setattr(join, "request_account", lambda *_: account)
    machine.apply("gathering", code=f"10.42.0.1 {CODE}")
    password = machine.state / join.PASSWORD
    before, content = password.read_bytes(), machine.content()
    monkeypatch.setattr(
        join, "request_account", lambda *_: msgspec.structs.replace(account, table="t 03", password="other")
    )
    with pytest.raises(MatError):
        machine.apply("gathering", code=f"10.42.0.1 {CODE}")
    assert password.read_bytes() == before
    content.pop(settings_request.ANSWER)
    assert {name: text for name, text in machine.content().items() if name != settings_request.ANSWER} == content


def test_a_hub_that_does_not_answer_changes_nothing(machine, monkeypatch):
    def refuse(*_):
        raise JoinError("the hub does not answer", "check the address")

    monkeypatch.setattr(join, "request_account", refuse)
    before = machine.content()
    with pytest.raises(JoinError):
        machine.apply("gathering", code=f"10.42.0.1 {CODE}")
    assert machine.content() == before
    assert not (machine.state / join.PASSWORD).exists()


def test_no_line_of_the_log_has_a_password(machine, caplog):
    machine.apply("table", "join", name="Hall", password="correct horse")
    secret = machine.machine.wifi.password
    machine.apply("table", "own")
    assert machine.machine.wifi.password not in {secret, ""}
    for password in (secret, machine.machine.wifi.password):
        assert not any(password in line for line in [*machine.lines, caplog.text])
    answer = machine.file.with_name(settings_request.ANSWER).read_text()
    assert machine.machine.wifi.password not in answer


@pytest.mark.parametrize(
    "changes", [{"screen.rotate": 90}, {"zone": "UTC"}, {"wifi.own": "yes"}, {"name": "A B"}, {"hub": {"x": 1}}]
)
def test_the_unit_takes_no_other_keys_and_no_faults(machine, changes):
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
    content.pop(settings_request.ANSWER)
    assert content == before


@pytest.mark.parametrize("text", ["moccasin-mat hub join 10.42.0.1 {}", "10.42.0.1 {}", "  10.42.0.1   {} \n"])
def test_the_command_of_the_console_or_its_end_is_read(text):
    address, code = parse_join_text(text.format(CODE))
    assert (address, str(code)) == ("10.42.0.1", CODE)
    assert parse_join_text(text.format(CODE.replace("-", " ").lower())) == (address, code)
