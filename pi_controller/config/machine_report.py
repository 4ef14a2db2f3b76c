"""What a card's page and screen need of machine.toml, in a file of its own: only root reads the other."""

import os
from pathlib import Path

import msgspec

from pi_controller.config.machine_settings import CARD_RUN, Machine

STATE = "machine.json"


class MachineState(msgspec.Struct, frozen=True):
    """The choices that the machine was started with, and the password of its own network ("" for any other).

    Its file is private to root and the table, because of that password; it is never logged or reported.
    """

    hub: bool | None = None
    own: bool | None = None
    network: str = ""
    country: str = ""
    password: str = ""

    def __repr__(self) -> str:
        """Return it without the password, for messages and tracebacks."""
        return f"MachineState(hub={self.hub}, own={self.own}, network={self.network!r})"


def describe_machine(machine: Machine) -> MachineState:
    """Return what the table may know of `machine`."""
    wifi = machine.wifi
    password = wifi.password if wifi.own else ""
    return MachineState(machine.hub, wifi.own, wifi.network, wifi.country, password)


def write_state(folder: Path, state: MachineState, group: int) -> None:
    """Write the `state` for the table, whose group id is `group`. Raises `OSError`."""
    path = folder / STATE
    path.unlink(missing_ok=True)
    file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o640)
    try:
        os.fchown(file, -1, group)
        os.write(file, msgspec.json.encode(state))
    finally:
        os.close(file)


def read_state(folder: Path = CARD_RUN) -> MachineState | None:
    """Return the state of the card's machine; None if this machine does not run from a card."""
    try:
        return msgspec.json.decode((folder / STATE).read_bytes(), type=MachineState)
    except (OSError, msgspec.MsgspecError):
        return None
