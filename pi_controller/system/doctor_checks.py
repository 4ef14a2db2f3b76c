"""Checks of a table besides its sensors: the link to the board, the machine, the journal's disk, pins and service."""

from __future__ import annotations

import grp
import importlib.metadata
import os
import platform
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller import __version__
from pi_controller.board import wire
from pi_controller.board.connection import BoardConnection
from pi_controller.board.gpio import header_factory, no_pins, read_pi_model
from pi_controller.board.interfaces import ButtonsError, Strip, StripError
from pi_controller.board.pins import LATE_S, RATES, PinsSource
from pi_controller.board.strips import NeoPixelStrip
from pi_controller.calibration.detectors import BUS_HINT
from pi_controller.config import Settings
from pi_controller.display.sound import SILENCE, AplaySound, Sound, SoundError, sound_cards
from pi_controller.display.voice import SPEECH_PROGRAM
from pi_controller.errors import JournalError, SettingsError, describe_error
from pi_controller.extras import install_hint
from pi_controller.journal.file import SETTING, journal_files
from pi_controller.journal.journal import Journal
from pi_controller.pinmap import pinmap, shipped_file
from pi_controller.system import service
from pi_controller.system.files import explain_refusal
from pi_controller.system.install import read
from pi_controller.system.machine_health import LOW_DISK_BYTES
from pi_controller.system.place import SetupError, make_place
from pi_controller.system.plan import plan
from pi_controller.system.platform import home_folder
from pi_controller.system.sensor_checks import Group, ReportLine, SensorListener
from pi_controller.system.status import RESULTS

if TYPE_CHECKING:
    from gpiozero import Factory


LINK = Group("Link")
FLASH_HINT = "run 'moccasin-mat flash': it copies this program's firmware to the board"
OFF_RATE = 0.005
"""Largest relative error of the sample rate: crystals are accurate to a ten-thousandth, so more means loss."""
SLOW_RTT_S = 0.05
BUS_ERRORS = 0.01
"""Share of the bus reads that may fail."""

EVENTS = ("start", "self test", "pace", "events")
MAX_EVENTS = 8
"""Most different events listed, the newest."""
STARTS = {
    "power": "from power",
    "reset": "by its RUN button",
    "watchdog": "by its watchdog: its program hung",
    "restart": "by its own program, as after a crash or a flash; 'moccasin-mat flash --check' shows a crash",
}
_OWN = {"started", "brown-out", "tested", "slow", "wiring", "strips", "discs"}
"""Kinds with a line of their own."""


def shipped_firmware() -> str:
    """Return the version `x.y.z` of the firmware shipped with this program."""
    text = shipped_file("firmware", "sampler.py").read_text("utf-8")
    found = re.search(r"^FIRMWARE = \((\d+), (\d+), (\d+)\)$", text, re.MULTILINE)
    return ".".join(found.groups()) if found else "unknown"


def link_lines(connection: BoardConnection | None, ears: SensorListener) -> Iterator[ReportLine]:
    """Yield the lines for the link; `connection` is None for a table without a board."""
    names = ("handshake", "firmware", "chips", *EVENTS, "samples", "losses", "clock", "bus")
    if connection is None:
        yield LINK.absent("port", 'the settings use no board: [board] port = "none"')
        yield from (LINK.absent(name, "no board") for name in names)
        return
    if connection.missing is not None:
        yield LINK.fails("port", connection.missing.message, connection.missing.hint)
        yield from (LINK.absent(name, "no board") for name in names)
        return
    yield LINK.passes("port", connection.port.name if connection.port else "")
    if ears.up is None:
        why = connection.why or "the board does not answer"
        todo = (
            FLASH_HINT
            if "protocol" in why or "flash" in why
            else f"unplug the board and plug it in again; else {FLASH_HINT}"
        )
        yield LINK.fails("handshake", why, todo)
        yield from (LINK.absent(name, "the board does not answer") for name in names[1:])
        return
    yield LINK.passes("handshake", f"protocol {wire.PROTOCOL[0]}, board {ears.up.board_id}")
    yield _firmware(ears.up.firmware)
    yield _chips(connection)
    yield from board_events(ears)
    yield _samples(ears)
    yield _losses(connection, ears)
    yield _clock(connection)
    yield _bus(ears)


def _firmware(version: str) -> ReportLine:
    ours = shipped_firmware()
    if version != ours:
        return LINK.fails("firmware", f"the board has version {version}, this program includes {ours}", FLASH_HINT)
    return LINK.passes("firmware", f"version {version}, the same as in this program")


def _chips(connection: BoardConnection) -> ReportLine:
    board = connection.session.board
    features = board.features if board is not None else 0
    kinds = [name for name, bit in (("QMC5883L", wire.QMC5883L), ("QMC5883P", wire.QMC5883P)) if features & bit]
    if not kinds:
        return LINK.absent("chips", "no magnetometer has answered yet")
    return LINK.passes("chips", f"magnetometers {kinds[0]}")


def _samples(ears: SensorListener) -> ReportLine:
    wanted = pinmap().board.sample_hz
    found = f"{ears.rate:.0f} of {wanted} samples a second"
    if abs(ears.rate / wanted - 1.0) > OFF_RATE:
        todo = "use another USB cable and a port of the Pi itself; stop other programs"
        return LINK.fails("samples", found, todo)
    return LINK.passes("samples", found)


def _losses(connection: BoardConnection, ears: SensorListener) -> ReportLine:
    stats = connection.session.stats
    restarts = ears.ups - 1
    losses = {
        "gaps": ears.gaps,
        "samples missing": stats.missing_samples,
        "frames lost": stats.lost,
        "frames damaged": stats.bad,
        "frames refused": stats.refused,
        "restarts of the board": restarts,
    }
    wrong = ", ".join(f"{count} {what}" for what, count in losses.items() if count)
    if wrong:
        todo = "check the board's supply" if restarts else "use another USB cable and a port of the Pi itself"
        return LINK.fails("losses", wrong, todo)
    return LINK.passes("losses", f"none in {stats.frames} frames")


def _clock(connection: BoardConnection) -> ReportLine:
    clock = connection.session.clock
    ppm = 1e6 * clock.drift
    if not clock.known:
        return LINK.fails("clock", "the board answers no ping", FLASH_HINT)
    found = f"the quickest answer in {1000 * clock.rtt:.1f} ms, {ppm:+.0f} ppm"
    if clock.rtt > SLOW_RTT_S:  # the drift is only informative: a few seconds cannot measure it
        return LINK.fails("clock", found, "stop other programs; use a USB port of the Pi itself")
    return LINK.passes("clock", found)


def _bus(ears: SensorListener) -> ReportLine:
    if len(ears.health) < 2:
        return LINK.fails("bus", "the board does not report its health", FLASH_HINT)
    # the board reports at once, when it may not yet know which magnetometers are built
    first, last = ears.health[min(1, len(ears.health) - 2)], ears.health[-1]
    seconds = max(last.uptime_s - first.uptime_s, 1e-3)
    errors, overflows = last.i2c_errors - first.i2c_errors, last.overflows - first.overflows
    board = pinmap().board
    reads = seconds * (board.touch_hz + board.magnet_hz * ears.magnetometers)
    sensor = any(line.outcome == "fail" and line.group == "Sensors" for line in ears.lines())
    found = f"{errors} errors in {seconds:.0f} s, slowest loop {last.worst_loop_us / 1000:.1f} ms"
    wiring = ears.find_events("wiring")
    if wiring:
        exchanged = bool(wiring[-1].value & wire.EXCHANGED)
        todo = "exchange the two wires at one end" if exchanged else BUS_HINT
        return LINK.fails("bus", wiring[-1].line.rstrip("."), todo)
    if errors > BUS_ERRORS * reads and not sensor:  # a dead sensor causes errors all the time, and has its own line
        return LINK.fails("bus", found, "check the wires to the touch board and the multiplexers: keep them short")
    if overflows:
        return LINK.fails("bus", f"{overflows} overflows on the board; {found}", FLASH_HINT)
    return LINK.passes("bus", found)


def board_events(ears: SensorListener) -> Iterator[ReportLine]:
    """Yield the lines for the board's events in `ears`."""
    yield _start(ears)
    yield _test(ears)
    yield _pace(ears)
    yield _events(ears)


def _start(ears: SensorListener) -> ReportLine:
    assert ears.up is not None
    weak = [event for event in ears.events if event.kind == "brown-out"]
    if weak:
        todo = "use a better supply: a short, thick cable at a port of the Pi itself; power the strip separately"
        return LINK.fails("start", weak[-1].line.rstrip("."), todo)
    reason = STARTS.get(ears.up.boot_reason, ears.up.boot_reason)
    return LINK.passes("start", f"its {ears.up.boot_count}., {reason}")


def _test(ears: SensorListener) -> ReportLine:
    tested = ears.find_events("tested")
    if not tested:
        todo = "unplug the board and plug it in again; else 'moccasin-mat flash'"
        return LINK.fails("self test", "the board does not report its self test", todo)
    test = tested[-1]
    if not ears.checks_magnetometers:
        found, sound = test.line, test.is_good
    else:
        found, sound = test.detailed_line, test.is_all_good
    if sound:
        return LINK.passes("self test", found.rstrip("."))
    if any(line.outcome == "fail" for line in ears.lines()):
        return LINK.passes("self test", "done; its findings are listed separately")
    return LINK.fails("self test", found.rstrip("."), "run the doctor again; a plug may be loose")


def _pace(ears: SensorListener) -> ReportLine:
    slow = ears.find_events("slow")
    if not slow:
        return LINK.passes("pace", "the board keeps up with its sensors")
    todo = "repair the sensors that fail: each silent sensor slows the board down; else 'moccasin-mat flash'"
    return LINK.fails("pace", slow[-1].line.rstrip("."), todo)


def _events(ears: SensorListener) -> ReportLine:
    """Return the line for all other events: past faults of sensors and bus, whose present state has its own lines."""
    secret = not ears.checks_magnetometers
    words = [
        (event.line if secret else event.detailed_line).rstrip(".")
        for event in ears.events
        if event.kind not in _OWN and (event.is_public or not secret)
    ]
    counts = Counter(reversed(words))  # the newest first
    found = [word + (f" ({count} times)" if count > 1 else "") for word, count in counts.items()][:MAX_EVENTS]
    if lost := sum(event.lost for event in ears.events):
        found.append(f"{lost} more were lost")
    return LINK.passes("events", "; ".join(found) or "only its start")


# Checks the machine: versions, SPI for the strips, groups, loudspeaker, the journal's disk.


MACHINE = Group("Machine")
DISK = Group("Journal")
SLOW_SYNC_S = 0.5
"""A disk that takes longer to sync a few bytes delays play at every call."""
PACKAGES = ("gpiozero", "lgpio", "pyserial", "numpy", "rich", "starlette", "uvicorn")
_ALSO = {"lgpio": "adafruit-lgpio"}


def versions() -> dict[str, str]:
    """Return the versions of this program, Python, the system and the packages; "" for a missing package."""
    return {
        "moccasin-mat": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        **{package: _version(package) for package in PACKAGES},
    }


def _version(package: str) -> str:
    for name in filter(None, (package, _ALSO.get(package))):
        with suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.version(name)
    return ""


def groups() -> set[str]:
    """Return the names of this process's groups."""
    names: set[str] = set()
    for number in {*os.getgroups(), os.getegid()}:
        with suppress(KeyError):
            names.add(grp.getgrgid(number).gr_name)
    return names


def machine_lines(
    settings: Settings, root: Path = Path("/"), member: Collection[str] | None = None
) -> Iterator[ReportLine]:
    """Yield the lines for the machine. Tests set `root` (of its files) and `member` (the user's groups)."""
    pi = read_pi_model(root)
    installed = versions()
    yield MACHINE.passes("model", pi) if pi else MACHINE.absent("model", "this is not a Raspberry Pi")
    python = installed["python"]
    enough = sys.version_info >= (3, 11)
    yield MACHINE.passes("python", python) if enough else MACHINE.fails("python", python, "use 3.11 or newer")
    pins = settings.strips.kind == "pi" or settings.buttons.kind == "pi"
    for package in ("gpiozero", "lgpio"):
        if version := installed[package]:
            yield MACHINE.passes(package, version)
        elif pi and pins:
            yield MACHINE.fails(package, "it is not installed", install_hint("pi"))
        else:
            yield MACHINE.absent(package, "it is not installed; only a Raspberry Pi needs it")
    if settings.voice.english:
        yield _speech()
    yield _spi(settings, root)
    yield from _groups(settings, root, groups() if member is None else member)


def _journal(path: Path) -> Iterator[ReportLine]:
    """Yield the line for the journal: this user may write it, and it is readable."""
    if not path.exists():
        yield DISK.passes("journal", "none yet: the first start creates it")
    elif todo := explain_refusal(journal_files(path), SETTING):
        yield DISK.fails("journal", f"{path.name} cannot be written by this user", todo)
    else:
        try:
            with Journal(path, read_only=True) as kept:
                yield DISK.passes("journal", f"{kept.seq} records")
        except JournalError as error:
            yield DISK.fails("journal", error.message, error.hint)


def _spi(settings: Settings, root: Path) -> ReportLine:
    if settings.strips.kind != "pi" and settings.board.port != "pins":
        return MACHINE.absent("SPI", "the settings drive no strips")
    found = sorted((root / "dev").glob("spidev*"))
    if found:
        return MACHINE.passes("SPI", ", ".join(path.name for path in found))
    todo = "turn SPI on with raspi-config (Interface Options), then restart"
    return MACHINE.fails("SPI", "it is turned off", todo)


def loudspeaker(settings: Settings, sound: Sound | None = None, root: Path = Path("/")) -> Iterator[ReportLine | None]:
    """Play a moment of silence on the loudspeaker `[voice] device`; yield None while it plays, then its line.

    `sound` is the loudspeaker if it is open already, `root` is for tests.
    """
    name, device = "loudspeaker", settings.voice.device
    if not settings.voice.is_audible:
        yield MACHINE.absent(name, "the settings use no sound")
        return
    sound, cards = sound or AplaySound(device), sound_cards(root)
    try:
        sound.play(SILENCE, 0.0)
        while sound.is_playing():
            yield None
    except SoundError as error:
        found = "" if cards else "; this machine has no sound card"
        yield MACHINE.fails(name, f"{error.message}{found}", error.hint)
    else:
        yield MACHINE.passes(name, f"{device} opens; sound cards: {'; '.join(cards) or 'none'}")


def _speech() -> ReportLine:
    if shutil.which(SPEECH_PROGRAM) is None:
        todo = f"sudo apt install {SPEECH_PROGRAM}, or set [voice] english to false"
        return MACHINE.fails("speech", f"{SPEECH_PROGRAM} is not installed, so nothing is said aloud", todo)
    return MACHINE.passes("speech", SPEECH_PROGRAM)


def _groups(settings: Settings, root: Path, member: Collection[str]) -> Iterator[ReportLine]:
    """Yield a line for each group that the settings require: only its members may open the device."""
    needed = {
        "dialout": (settings.board.port not in {"none", "pins"}, "the board's port"),
        "gpio": (settings.buttons.kind == "pi", "the buttons' pins"),
        "spi": (settings.strips.kind == "pi" or settings.board.port == "pins", "the pins of SPI"),
    }
    if settings.voice.is_audible:
        needed["audio"] = (True, "the loudspeaker")
    if settings.board.port == "pins":
        needed["i2c"] = (True, "the touch strips' chip")
    for name, (wanted, what) in needed.items():
        if not wanted:
            yield MACHINE.absent(f"group {name}", f"the settings do not use {what}")
        elif name in member or os.geteuid() == 0:
            yield MACHINE.passes(f"group {name}", f"{what} can be opened")
        elif not _has_group(name, root):
            yield MACHINE.absent(f"group {name}", "this system has no such group")
        else:
            todo = f"add this user to it (sudo usermod -aG {name} $USER), then log in again"
            yield MACHINE.fails(f"group {name}", f"this user is not in it: {what} cannot be opened", todo)


def _has_group(name: str, root: Path) -> bool:
    with suppress(OSError):
        lines = (root / "etc/group").read_text("utf-8", "replace").splitlines()
        return any(line.startswith(f"{name}:") for line in lines)
    return False


def disk(journal: Path) -> Iterator[ReportLine]:
    """Yield the lines for the journal's disk: free space, writing, the journal, and the time of a sync."""
    folder = journal.absolute().parent
    if not folder.is_dir():
        yield DISK.fails("folder", f"there is no folder {folder}", "make it, or change [table] journal")
        return
    free = shutil.disk_usage(folder).free
    room = f"{free / 1e9:.1f} GB free"
    if free < LOW_DISK_BYTES:
        yield DISK.fails("room", room, "free some space: delete old recordings first")
    else:
        yield DISK.passes("room", room)
    probe = folder / f".{journal.name}.doctor"
    try:
        began = time.monotonic()
        with probe.open("wb") as file:
            file.write(b"moccasin-mat")
            file.flush()
            os.fsync(file.fileno())
        took = time.monotonic() - began
    except OSError as error:
        todo = "check the folder's owner and the disk, or change [table] journal"
        yield DISK.fails("writing", f"{folder} cannot be written: {describe_error(error)}", todo)
        return
    finally:
        probe.unlink(missing_ok=True)
    yield DISK.passes("writing", str(folder))
    yield from _journal(journal)
    found = f"{1000 * took:.1f} ms"
    slow = took > SLOW_SYNC_S
    yield DISK.fails("fsync", found, "use a better card, or a USB disk") if slow else DISK.passes("fsync", found)


# Checks the Pi's pins: the pins of buttons and strips open, no button is shorted, and sensors answer.


PINS = Group("Pins")
DIM = (12, 12, 12)
FIRST_PIXELS = ((60, 0, 0), (0, 60, 0), (0, 0, 60))
"""Red, green, blue: a strip of another colour order shows them exchanged."""
GAPS_S = 1.0
"""Shortest acceptable interval between gaps: while a hit is due, each one is a question to the judge."""
NOTE = "slower than the board: soft strokes may be missed, and the judge confirms the bead"


def buttons(settings: Settings, factory: Factory | None = None) -> Iterator[ReportLine]:
    """Yield a line for each button: its pin opens and reads released. `factory` is gpiozero's, for tests."""
    wanted = settings.button_pins
    if settings.buttons.kind == "none":
        for name in wanted:
            yield PINS.absent(f"button {name}", 'no buttons: [buttons] kind = "none"')
        return
    try:
        from gpiozero import DigitalInputDevice  # noqa: PLC0415 - it takes long to import on a small Pi
        from gpiozero.exc import BadPinFactory, GPIOZeroError  # noqa: PLC0415

        factory = factory or header_factory(ButtonsError)
    except (ButtonsError, ModuleNotFoundError) as error:
        missing = error if isinstance(error, ButtonsError) else no_pins(ButtonsError)
        for name in wanted:
            yield PINS.fails(f"button {name}", missing.message, missing.hint)
        return
    for name, pin in wanted.items():
        what = f"button {name}"
        try:
            with DigitalInputDevice(pin, pull_up=True, pin_factory=factory) as device:
                held = device.is_active
        except (BadPinFactory, ImportError, RuntimeError):
            missing = no_pins(ButtonsError)
            yield PINS.fails(what, missing.message, missing.hint)
        except (GPIOZeroError, OSError) as error:
            todo = "stop the table while the doctor runs, or choose another pin in [buttons.pins]"
            yield PINS.fails(what, f"GPIO{pin} cannot be opened: {describe_error(error)}", todo)
        else:
            if held:
                todo = f"check GPIO{pin} for a short to ground; let go of the button"
                yield PINS.fails(what, "it reads pressed", todo)
            else:
                yield PINS.passes(what, f"released, GPIO{pin}")


def strips(settings: Settings, opened: Callable[[], Strip] | None = None) -> Iterator[ReportLine]:
    """Yield the line for the strips: they open and accept a dim frame. Only a person can see whether they shone."""
    wanted, count = settings.strips, pinmap().lights.count
    if wanted.kind == "board" and opened is None:
        yield PINS.absent("light strips", "on the board: only a person can see whether they shine")
        return
    if wanted.kind != "pi" and opened is None:
        yield PINS.absent("light strips", f'none driven: [strips] kind = "{wanted.kind}"')
        return
    try:
        strip = opened() if opened else NeoPixelStrip(count, wanted.pin, wanted.brightness, wanted.current_cap_ma)
        try:
            strip.show([*FIRST_PIXELS, *[DIM] * (count - len(FIRST_PIXELS))])
        finally:
            strip.close()
    except StripError as error:
        yield PINS.fails("light strips", error.message, error.hint)
    else:
        asked = "the first three red, green and blue, the rest dim white: did you see that?"
        wrong = "Other colours: the strip has another order than a WS2812"
        yield PINS.passes("light strips", f"{count} pixels were lit for a moment, {asked} {wrong}")


def sensors(source: PinsSource, ears: SensorListener) -> Iterator[ReportLine]:
    """Yield the lines for `source` and its messages in `ears`; call this before `source` is closed."""
    yield LINK.passes("kind", f"the Pi's own pins, no mat board; {NOTE}")
    names = ("samples", "losses", "touch chip")
    if source.missing is not None or ears.up is None:
        missing = source.missing
        what, todo = (
            (missing.message, missing.hint) if missing else (source.why or "no readings yet", "run the doctor again")
        )
        yield LINK.fails("port", what, todo)
        yield from (LINK.absent(name, "the piezos are not read") for name in names)
        return
    yield LINK.passes("port", source.port.name if source.port else "")
    yield _pin_samples(source, ears)
    yield _pin_losses(ears)
    missing = source.strips_missing
    if missing is not None:
        yield LINK.fails("touch chip", missing.message, missing.hint)
    else:
        yield LINK.passes("touch chip", f"{ears.scans} scans")


def _pin_samples(source: PinsSource, ears: SensorListener) -> ReportLine:
    board = pinmap().board.sample_hz
    found = f"{source.reads_per_s:,.0f} samples a second for each pad; the board gives {board:,}"
    grid = f"resampled to {ears.grid:,.0f}"
    if source.reads_per_s < 1.25 * RATES[-1]:
        return LINK.passes("samples", f"{found}; {grid}, the minimum for detecting strikes")
    return LINK.passes("samples", f"{found}; {grid}")


def _pin_losses(ears: SensorListener) -> ReportLine:
    seconds = max(ears.last_at - ears.first_at, 1e-3)
    restarts = ears.ups - 1
    found = f"{ears.gaps} stretches of more than {1000 * LATE_S:.0f} ms unread in {seconds:.0f} s"
    if restarts:
        found += f", restarted {restarts} times"
    if restarts or ears.gaps > seconds / GAPS_S:
        return LINK.fails("losses", found, "stop other programs on this Pi; give it a better supply")
    return LINK.passes("losses", found)


# Checks the systemd service: its unit is up to date, it runs, and it is enabled.


SERVICE = Group("Service")
SETUP = "moccasin-mat setup"


def service_lines() -> list[ReportLine]:
    """Return the lines for the service; "not here" if none is installed or systemd does not run."""
    kind = service.installed_kind()
    if not kind:
        return [SERVICE.absent("unit", f"no service is installed; '{SETUP}' does that")]
    system = kind == "system"
    found = [_unit(system=system)]
    if not service.is_systemd_running():
        return [*found, SERVICE.absent("running", "systemd does not run this machine")]
    found.append(running_line(service.properties(system=system), system=system))
    if not system:
        todo = "" if service.lingers() else f"sudo loginctl enable-linger {home_folder().name}"
        name = "starts with the machine"
        found.append(SERVICE.fails(name, "only when its user logs in", todo) if todo else SERVICE.passes(name))
    return found


def _unit(*, system: bool) -> ReportLine:
    again = f"{'sudo ' if system else ''}{SETUP}{'' if system else ' --user'}"
    try:
        here = make_place(system=system)
    except SetupError as error:
        return SERVICE.fails("unit", error.message, error.hint)
    try:
        current = read(here.unit) == plan(here).text()
    except OSError as error:
        return SERVICE.absent("unit", f"it cannot be read: {describe_error(error)}; try sudo")
    except SettingsError:  # the error may quote a name or a password from the file
        todo = f"'moccasin-mat check-settings {here.settings}' shows the faults"
        return SERVICE.fails("unit", "no table can run with its settings", todo)
    except SetupError as error:
        return SERVICE.fails("unit", error.message, error.hint)
    if current:
        return SERVICE.passes("unit", f"{here.unit}, the same as this version's file")
    # setup shows the difference first, so that a user's own lines are not overwritten unseen
    todo = f"'{again}' shows the difference and writes it; put your own lines in a drop-in file"
    return SERVICE.fails("unit", f"{here.unit} differs from this version's file", todo)


def running_line(properties: Mapping[str, str], *, system: bool) -> ReportLine:
    """Return the line for the service's state, from its systemd `properties`."""
    name, command = "running", " ".join(service.systemctl(system=system))
    state, often = properties.get("ActiveState", ""), properties.get("NRestarts", "0")
    if not state:
        return SERVICE.absent(name, "systemd does not answer")
    if state == "active":
        again = f", started again {often} times" if often.isdigit() and int(often) else ""
        return SERVICE.passes(name, f"{properties.get('StatusText', '')}{again}")
    if state == "inactive" and properties.get("Result") == "success":
        return SERVICE.fails(name, "it is stopped", f"{command} start moccasin-mat")
    found = RESULTS.get(properties.get("Result", ""), properties.get("Result", state))
    return SERVICE.fails(name, f"{found}{'' if often == '0' else f', {often} times'}", "--bundle has its log")
