"""Make a card what the head judge chose on its page: one table, a table of a gathering, the gathering's hub, or both.

Runs in the table's process, which may use the network and write its own folder: it joins a hub, or creates one's files.
The machine's settings are written by the unit that also saves the table's (`card.settings_request`).
"""

import os
import socket
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pi_controller.card import wifi_files
from pi_controller.config import Settings, machine_report, machine_settings, read_settings
from pi_controller.config.load import validate_data
from pi_controller.config.machine_report import MachineState
from pi_controller.config.machine_settings import HUB_NAME, Machine
from pi_controller.config.own_network import OWN_ADDRESS
from pi_controller.errors import UsageError, describe_error
from pi_controller.extras import requires_extra
from pi_controller.host.files import write_private_file
from pi_controller.host.place import NAME
from pi_controller.hub import join, join_table
from pi_controller.hub.settings import FILE, load_hub, store_from_settings
from pi_controller.hub.tokens import Tokens
from pi_controller.web.start_page import CardState, StartChoice, StartResult
from pi_controller.web.users import FILE as USERS
from pi_controller.web.users import Users

FOLDER = "hub"
"""Folder of the hub beside the table's journal."""
VENUE, OWN_TABLE = "hall", "t01"
"""Names at the hub: the tournament, and the table on the hub's own card."""
_PAGE = '[page]\nhost = "0.0.0.0"\n'

AskMachine = Callable[[Mapping[str, Any], Mapping[str, Any]], None]
"""Save changes of machine.toml and of the table's section [hub]; raises `EditError`."""


class CardDesk:
    """The choices of a card whose table has `settings` from `file`; `users` are the table's.

    `run` is the card's run folder, and `root` that of the machine's devices.
    """

    def __init__(
        self,
        settings: Settings,
        file: Path,
        users: Users,
        ask_machine: AskMachine,
        *,
        run: Path = machine_settings.CARD_RUN,
        root: Path = Path("/"),
    ) -> None:
        self._file, self._users, self._ask_machine = file, users, ask_machine
        self._run, self._root = run, root
        self._private = settings.table.journal.absolute().parent

    def describe(self) -> CardState:
        """Return what the card is now, and its network."""
        state, hub = self._state(), read_settings(self._file).hub
        use = ""
        if state.hub is not None:
            use = ("both" if hub.address else "hub") if state.hub else ("gathering" if hub.address else "table")
        elif state.own is False and state.network:
            use = "gathering"  # its network was chosen first, and the code is still missing
        network = "own" if state.own else "join" if state.network else "cable"
        return CardState(
            use=use,
            chosen=state.hub is not None,
            network=network if self._has_wifi else "cable",
            name=state.network,
            password=state.password,
            country=state.country,
            wifi=self._has_wifi,
            countries=machine_settings.list_countries(),
            at_hub=f"{hub.table} at {hub.address}" if hub.address else "",
            hub=bool(state.hub),
            fingerprint=self._fingerprint() if state.hub else "",
        )

    def apply(self, choice: StartChoice) -> StartResult:
        """Make the card what was chosen. Raises `MatError`, and then has changed nothing."""
        state = self._state()
        wifi = self._wifi_changes(choice, state)
        moves = self._has_wifi and bool({"wifi.network", "wifi.own"} & set(wifi))
        machine = {**wifi, **_hub_changes(choice.use, state)}
        name, password = str(wifi.get("wifi.network", state.network)), wifi.get("wifi.password", state.password)
        own = bool(wifi.get("wifi.own", state.own)) and self._has_wifi
        _reject_invalid_machine(machine, name=name, own=own, country=choice.country)
        later = False
        if choice.use == "gathering" and moves:
            later = True  # the hub is in the other network: its code is asked there
            machine.pop("hub", None)
            self._ask_machine(machine, {})
        elif choice.use == "gathering" and not choice.code and not state.hub and read_settings(self._file).hub.address:
            self._ask_machine(machine, {})  # it stays at its hub
        elif choice.use == "gathering":
            with self._join_hub(choice.code) as hub:
                self._ask_machine(machine, hub)
        elif choice.use == "table":
            self._ask_machine(machine, self._leave_hub())
        else:
            hosts = _hub_hosts(own=own)
            hub = self._create_hub(hosts, with_table=choice.use == "both")
            self._ask_machine(machine, hub or self._leave_hub())
        return StartResult(
            restarts="machine" if machine else "table",
            code_later=later,
            network=name if own else "",
            password=str(password) if own else "",
        )

    @property
    def _has_wifi(self) -> bool:
        return wifi_files.has_wifi(self._root)

    def _fingerprint(self) -> str:
        """Return the SHA-256 of the hub's certificate as browsers show it, "" if there is none."""
        from pi_controller.hub import setup  # noqa: PLC0415 - only a hub needs it

        with suppress(OSError, ValueError):
            if certificate := setup.read_certificate(self._private / FOLDER):
                return setup.format_fingerprint(certificate)
        return ""

    def _state(self) -> MachineState:
        return machine_report.read_state(self._run) or MachineState()

    def _wifi_changes(self, choice: StartChoice, state: MachineState) -> dict[str, Any]:
        """Return the changed keys of [wifi]. Raises `UsageError`."""
        if choice.network == "cable":
            return _find_wifi_changes({"own": False, "network": "", "password": ""}, state)
        if not self._has_wifi:
            raise UsageError("this machine has no Wi-Fi", "plug in a network cable, and choose the cable")
        if not choice.country:
            raise UsageError("the country is missing", "choose it: each country has its own rules for Wi-Fi")
        if choice.network == "own":
            if state.own:
                return _find_wifi_changes({"country": choice.country}, state)
            made = {"network": wifi_files.new_network_name(), "password": wifi_files.new_password()}
            return _find_wifi_changes({"own": True, "country": choice.country, **made}, state)
        if not choice.name:
            raise UsageError("the name of the Wi-Fi is missing", "type it exactly as a phone shows it")
        wanted = {"own": False, "network": choice.name, "country": choice.country}
        changed = _find_wifi_changes(wanted, state)
        if choice.password or "wifi.network" in changed or state.own:  # an empty field keeps the known password
            changed |= {"wifi.own": False, "wifi.network": choice.name, "wifi.password": choice.password}
        return changed

    def _leave_hub(self) -> dict[str, Any]:
        return {"address": ""} if read_settings(self._file).hub.address else {}

    @contextmanager
    def _join_hub(self, code: str) -> Generator[dict[str, Any]]:
        """Join the hub by what its console shows; provide the values of [hub].

        If the block fails the account's files are as before. Raises `JoinError`, `UsageError`.
        """
        address, parsed = parse_join_text(code)
        if not os.access(self._private, os.W_OK | os.X_OK):
            raise UsageError(f"{self._private} is not writable", "start the card again")
        account = join_table.request_account(*join_table.parse_hub_address(address), parsed)
        with join_table.store_account(account, self._private) as (token, ca):
            yield account.hub_section(token, ca)

    def _create_hub(self, hosts: list[str], *, with_table: bool) -> dict[str, Any]:
        """Create the hub's files, or bring them up to date; return the values of [hub] for the card's own table.

        The head judges of the table sign in as directors with their names and PINs.
        """
        with requires_extra("hub", "the hub"):
            from pi_controller.hub import setup  # noqa: PLC0415 - only a hub needs it
        folder = self._private / FOLDER
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            if not (folder / FILE).exists():  # written sections stay in what `write_hub_files` writes
                write_private_file(folder / FILE, _PAGE.encode())
        except OSError as error:
            raise setup.HubSetupError(f"{folder}: {describe_error(error)}", "is the card full?") from error
        setup.write_hub_files(folder, VENUE, hosts, datetime.now(UTC))
        _copy_heads(self._users, folder / USERS)
        if not with_table:
            return {}
        token = folder / f"{OWN_TABLE}.token"
        hub_settings = load_hub(folder)
        with Tokens(store_from_settings(hub_settings, folder)) as tokens:
            account = join.Account("127.0.0.1", hub_settings.page.https, VENUE, OWN_TABLE, tokens.issue(OWN_TABLE), "")
        write_private_file(token, f"{account.token}\n".encode())
        return account.hub_section(token, folder / setup.CA)


def parse_join_text(text: str) -> tuple[str, join.JoinCode]:
    """Return address and code of what the director's console shows: the command, or address and code alone.

    Raises `UsageError`.

    >>> parse_join_text("moccasin-mat hub join 10.42.0.1 0000-0000-0000-0000-0000")[0]
    '10.42.0.1'
    """
    words = text.strip().removeprefix("moccasin-mat hub join ").split(maxsplit=1)
    if len(words) != 2:
        raise UsageError(
            "the code of the hub is missing", "type the address and the code that the director's console shows"
        )
    return words[0], join.parse_code(words[1])


def _find_wifi_changes(wanted: Mapping[str, Any], state: MachineState) -> dict[str, Any]:
    """Return the keys of [wifi] whose values differ from those in force."""
    known = {"own": state.own, "network": state.network, "country": state.country}
    found = {key: value for key, value in wanted.items() if key != "password" and known[key] != value}
    if {"own", "network"} & set(found) and "password" in wanted:
        found["password"] = wanted["password"]
    return {f"wifi.{key}": value for key, value in found.items()}


def _hub_changes(use: str, state: MachineState) -> dict[str, Any]:
    """Return the changes of machine.toml for this use; a hub gets a name of its own, by which tables find it."""
    hub, name = use in {"hub", "both"}, socket.gethostname()
    found: dict[str, Any] = {} if state.hub is hub else {"hub": hub}
    if hub and name == NAME:
        found["name"] = HUB_NAME
    elif not hub and name == HUB_NAME:
        found["name"] = NAME
    return found


def _hub_hosts(*, own: bool) -> list[str]:
    """Return names and addresses of the hub, the one for the tables first."""
    name = socket.gethostname().split(".")[0]
    name = HUB_NAME if name == NAME else name
    return [*([OWN_ADDRESS] if own else []), f"{name}.local", name, "127.0.0.1"]


def _reject_invalid_machine(changes: Mapping[str, Any], *, name: str, own: bool, country: str) -> None:
    """Raise `UsageError` for values that machine.toml cannot have, before a join code is used up.

    A password in force is not known here, so another one stands for it.
    """
    given = {key.removeprefix("wifi."): value for key, value in changes.items() if key.startswith("wifi.")}
    wifi = {"network": name, "own": own, "country": country, "password": "x" * 8, **given}
    _, issues = validate_data(Machine, {"wifi": wifi} if given else {})
    if issues:
        raise UsageError("; ".join(f"{issue.keys[-1]} {issue.text}" for issue in issues), "correct it")


def _copy_heads(users: Users, path: Path) -> None:
    """Let the head judges among `users` sign in at the hub whose users are at `path`, with the same PINs."""
    hub = Users(path)
    try:
        for one in users.list_users():
            found = users.find_by_name(one.name)
            if one.role != "head" or found is None:
                continue
            known = hub.find_by_name(one.name)
            if known is None:
                hub.add(one.name, "head", found[1])
            elif known[1] != found[1]:
                hub.give_pin(known[0].id, found[1], "head")
    finally:
        hub.close()
