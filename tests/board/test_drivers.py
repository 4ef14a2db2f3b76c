"""Drivers by name: built in or of another package, chosen in the settings, refused with what there is."""

import pytest
from outside_package import find_packages, install_package

from pi_controller.board import drivers
from pi_controller.board.board_strip import BoardStrip
from pi_controller.board.connection import BoardConnection
from pi_controller.board.interfaces import StripError, StripOptions
from pi_controller.board.message_source import NoSource
from pi_controller.board.pins import PinsSource
from pi_controller.config import read_settings
from pi_controller.config.edit import list_settings
from pi_controller.entry_points import BOARDS, BUTTONS, OBSERVERS, SCENES, STRIPS, PluginError
from pi_controller.errors import SettingsError
from pi_controller.runtime.assembly import make_buttons, make_source, make_strip
from pi_controller.tools.doctor import examine

SOURCE = """
from pi_controller.board.buttons import MockButtons
from pi_controller.board.strips import MemoryStrip
def strip(options):
    made = MemoryStrip(options.count, options.brightness, options.cap_ma)
    made.options = options
    return made
def buttons(options): return MockButtons(options.pins)
class Board:
    port = missing = None
    up = pinging = False
    sent, why = 0, "no reply from the garden"
    def __init__(self, options): self.options = options
    def step(self, t, at_least=0): return []
    def close(self): pass
def crash(options): raise ValueError("no such device")
"""
POINTS = {
    STRIPS: {"lamps": "outside:strip", "pi": "outside:strip", "gone": "outside:gone"},
    BUTTONS: {"pedals": "outside:buttons"},
    BOARDS: {"garden": "outside:Board"},
    SCENES: {"fire": "outside:scene"},
    OBSERVERS: {"tally": "outside:observer"},
}


@pytest.fixture
def outside(tmp_path):
    """Another package with drivers is installed."""
    install_package(tmp_path, "outside", "2.0", POINTS, outside=SOURCE)
    with find_packages(tmp_path):
        yield


@pytest.fixture
def settings(tmp_path):
    """Return the settings of a text."""

    def read(text):
        path = tmp_path / "table.toml"
        path.write_text(text, "utf-8")
        return read_settings(path)

    return read


@pytest.mark.parametrize(
    ("port", "kind"), [("auto", BoardConnection), ("/dev/x", BoardConnection), ("pins", PinsSource)]
)
def test_port_chooses_the_board_driver(settings, port, kind):
    source = make_source(settings(f'[board]\nport = "{port}"\n'))
    assert isinstance(source, kind)
    assert source.port is None


def test_strip_on_board_without_a_board_is_none(settings):
    wanted = settings('[strips]\nkind = "board"\n')
    assert make_strip(wanted, NoSource()) is None
    assert isinstance(make_strip(wanted, make_source(wanted)), BoardStrip)
    with pytest.raises(StripError):
        drivers.load_driver(STRIPS, "board")(StripOptions(9))


@pytest.mark.usefixtures("outside")
def test_driver_of_another_package_gets_the_settings(settings):
    wanted = settings(
        '[strips]\nkind = "lamps"\naddress = "lamps.local"\n[buttons]\nkind = "pedals"\n[board]\nport = "garden"\n'
    )
    source = make_source(wanted, lambda: 5.0)
    assert (source.options.port, source.options.clock()) == ("garden", 5.0)
    strip = make_strip(wanted, source)
    assert (strip.options.address, strip.options.source, strip.count) == ("lamps.local", source, 69)
    buttons = make_buttons(wanted, lambda: 0.0)
    heard = []
    buttons.listen(lambda name, t: heard.append(name))
    buttons.press("ready", 0.1)
    buttons.tick(1.0)
    assert heard == ["ready"]


@pytest.mark.usefixtures("outside")
def test_installed_names_are_offered_built_in_ones_win(settings):
    assert drivers.list_names(STRIPS) == ("pi", "board", "wled", "memory", "gone", "lamps")
    assert drivers.load_driver(STRIPS, "memory")(StripOptions(9)).count == 9
    assert drivers.load_driver(STRIPS, "pi").__module__ == "pi_controller.board.strips"
    fields = {field.key: field for section in list_settings(settings("")) for field in section.fields}
    assert fields["strips.kind"].choices == (*drivers.list_names(STRIPS), "none")


@pytest.mark.usefixtures("outside")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[strips]\nkind = "lumps"', "did you mean lamps?"),
        ('[buttons]\nkind = "feet"', '"pi" or "pedals" or "none"'),
        ('[board]\nport = "gardn"', '"auto" or "pins" or "garden" or "none"'),
        ('[strips]\nscene = "fyre"', "did you mean fire?"),
        ('[observers]\nload = ["tully"]', 'must be "tally"'),
    ],
)
def test_unknown_name_error_lists_installed_ones(settings, text, says):
    with pytest.raises(SettingsError) as caught:
        settings(text)
    assert says in caught.value.message


@pytest.mark.usefixtures("outside")
def test_broken_driver_names_its_package(settings):
    with pytest.raises(PluginError, match=r"'gone' of outside 2.0"):
        make_strip(settings('[strips]\nkind = "gone"'), NoSource())


@pytest.mark.usefixtures("outside")
def test_doctor_names_an_unreachable_board_driver(settings, tmp_path):
    settings('[board]\nport = "garden"\n[strips]\nkind = "lamps"\n')
    report, _ = examine(tmp_path / "table.toml", lambda _: None)
    lines = {line.name: line for line in report.lines}
    assert (lines["port"].outcome, lines["port"].message) == ("fail", "no reply from the garden")
    assert lines["light strips"].outcome == "pass"
    assert lines["piezo of pad 1"].outcome == "not here"
