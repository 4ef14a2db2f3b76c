"""The page of the school mat, followed step by step in simulation: parts, wires, checks, calibration, a game."""

import re
from pathlib import Path

import breadboard
import pytest
from cork_pads import CorkPads
from ddp_receiver import DdpReceiver
from fsr_mat import CORK
from gpiozero.pins.mock import MockFactory
from ground_truth import compare
from pins_world import PinsWorld
from values import values

from pi_controller.board.buttons import GpioButtons
from pi_controller.board.strips import prepare_frame
from pi_controller.board.wled import WledStrip
from pi_controller.calibration.walk import Walk
from pi_controller.config import read_settings
from pi_controller.games.dakota.people import Players
from pi_controller.pinmap import pinmap
from pi_controller.referee.history import effective_records
from pi_controller.referee.judge import JudgeAction
from pi_controller.runtime.assembly import apply_profile, mat_sensors, open_table
from pi_controller.runtime.daemon import Daemon
from pi_controller.simulation.sim_builder import Calibrator
from pi_controller.table.mats import Mat
from pi_controller.tools import calibrate, doctor, pin_checks

HARDWARE = Path(__file__).parents[2] / "hardware"
TEXT = (HARDWARE / "SCHOOL_MAT.md").read_text("utf-8")
STEPS = re.split(r"^## (?=\d+\. )", TEXT, flags=re.MULTILINE)[1:]
SETTINGS = "\n".join(re.findall(r"^    (\[\w+\]|\w+ = .+|)$", TEXT[TEXT.index("Write `table.toml`") :], re.MULTILINE))
TICK_S, HELD_S = 0.032, 0.1
MINUTES = 60.0


@pytest.fixture
def settings(tmp_path):
    """Return the settings of the whole page, written into an empty folder."""
    path = tmp_path / "table.toml"
    path.write_text(SETTINGS, "utf-8")
    return read_settings(path)


def look(settings, pins, seconds=4.0):
    """Return the doctor's lines of the mat, by name."""
    ears = doctor._listener(settings)
    while pins.world.t < seconds:
        ears.take(pins.tick())
    return {str(line.name): line for line in [*pin_checks.sensors(pins.source, ears), *ears.lines()]}


def calibrated(settings, pins):
    """Walk through the calibration as a person who follows its words; return the walk."""
    walk = Walk(settings.strikes.detector_settings(), settings.strikes.sensor, settings.magnetometers)
    who, view = Calibrator(pins.world), walk.view
    while not view.over:
        assert pins.world.t < 5 * MINUTES, view
        who.act(view)
        view = walk.step(pins.world.t, pins.tick())
    return walk


def test_parts_add_up():
    lists = TEXT[TEXT.index("| part | many |") :].split("| part | many |")[1:]
    sums = [
        sum(float(euros) for euros in re.findall(r"^\| [^|*]+ \| \d+ \| ([\d.]+) \|", one, re.MULTILINE))
        for one in lists
    ]
    said = [float(euros) for euros in re.findall(r"^\| \*\*[\w ,]+\*\* \|.*?\*\*([\d.]+)\*\*", TEXT, re.MULTILINE)]
    assert said == pytest.approx(sums)
    assert f"**{sum(sums):.2f}** euros" in TEXT
    about = [int(euros) for euros in re.search(r"about (\d+) euros beside the Pi, (\d+) with", TEXT).groups()]
    assert [abs(part - total) < 4 for part, total in zip(about, (sums[0], sum(sums)), strict=True)] == [True, True]


def test_every_part_has_two_distributors():
    rows = re.findall(r"^\| ([^|*]+) \| \d+ \| [\d.]+ \| ([^|]+) \| ([^|]+) \|$", TEXT, re.MULTILINE)
    assert len(rows) == 11
    assert all(shop.strip() and distributor.strip() for _, shop, distributor in rows)


def test_breadboard_connects_what_the_driver_reads():
    nets, chip = breadboard.nets(), pinmap().pi.mcp3008
    select, data_in, data_out, clock = (f"GPIO{pin}" for pin in chip.pins)
    assert [nets[name] for name in ("CS", "DOUT", "DIN", "CLK")] == [{select}, {data_in}, {data_out}, {clock}]
    assert nets["VDD"] == nets["VREF"] >= {"3V3", "MPR121 VIN", *(f"FSR {n}, other wire" for n in range(1, 5))}
    assert nets["AGND"] == nets["DGND"] >= {"GND", "MPR121 GND"}
    assert "GND" not in nets["VDD"]
    for n, channel in enumerate(chip.channels, 1):
        assert nets[f"CH{channel}"] == {f"FSR {n}", "resistor to -bottom"}
    for name in ("ready", "shown"):
        assert nets[name] == {f"GPIO{pinmap().pi.buttons[name]}"}
        assert nets[f"{name}, across"] == nets["DGND"]


def test_page_names_the_resistor_and_pins_in_force():
    assert CORK.divider_ohm == values().fsr["divider_ohm"] == 3300.0
    data, clock = pinmap().pi.mpr121.pins
    assert (
        f"SDA to GPIO{data} (pin {breadboard.HEADER[data]}), SCL to GPIO{clock} (pin {breadboard.HEADER[clock]})"
        in TEXT
    )


def test_each_step_has_a_check():
    assert [step.split(".")[0] for step in STEPS] == ["1", "2", "3", "4", "5", "6"]
    assert all("*Check:*" in step for step in STEPS)


def test_doctor_passes_a_sound_school_mat(settings):
    lines = look(settings, PinsWorld(1, pads=CorkPads(1)))
    assert [line for line in lines.values() if line.outcome == "fail"] == []
    passed = {name for name, line in lines.items() if line.outcome == "pass"}
    named = set(re.findall(r"`(piezo of pad \d|touch strip [^`]+|touch chip|samples)`", TEXT))
    assert len(named) == 6
    assert named <= passed


@pytest.mark.parametrize(("lifted", "name"), [((2,), "piezo of pad 2"), ((1, 2, 3, 4), "port")])
def test_doctor_names_a_tile_off_its_sensor(settings, lifted, name):
    pads = CorkPads(2)
    for pad in lifted:
        pads.lift(pad)
    line = look(settings, PinsWorld(2, pads=pads), 3.0)[name]
    assert line.outcome == "fail"
    assert line.hint


def test_calibration_passes_and_its_profile_fits(settings, tmp_path):
    walk = calibrated(settings, PinsWorld(3, pads=CorkPads(3)))
    assert walk.passed
    titles = [str(step.title) for step in walk.view.steps]
    assert [title for title in titles if f'"{title}"' in TEXT] == titles
    calibrate._keep(walk, tmp_path, "school", add_earlier=False)
    board = settings.board.model_copy(update={"profile": "school"})
    tuned, profile = apply_profile(settings.model_copy(update={"board": board}), tmp_path)
    assert profile.strikes.sensor == "fsr"
    assert tuned.strikes.threshold_db == profile.strikes.threshold_db


def play(settings, folder, seed, points):
    """Play a game on a calibrated school mat; return the table, the players, the lights' receiver and the strip."""
    settings = settings.model_copy(
        update={
            "table": settings.table.model_copy(update={"journal": folder / f"{seed}.sqlite"}),
            "game": settings.game.model_copy(update={"options": {"points": str(points)}}),
        }
    )
    pins, lights = PinsWorld(seed, pads=CorkPads(seed)), DdpReceiver()
    table = open_table(settings, 0.0)
    wanted = settings.strips
    strip = WledStrip(69, wanted.address, wanted.brightness, wanted.current_cap_ma, lambda _: lights.address)
    strip.repeat()
    factory, held = MockFactory(), {}
    buttons = GpioButtons(settings.button_pins, lambda: pins.world.t, factory=factory)
    daemon = Daemon(table, [Mat(pins.source, mat_sensors(settings))], buttons, strip)

    def press(name):
        """Press a button of the mat, or enter the toss on the judge's phone."""
        if name in ("ready", "shown"):
            factory.pin(settings.button_pins[name]).drive_low()
            held[name] = pins.world.t + HELD_S
        else:
            table.judge(JudgeAction(pins.world.t, {"do": "toss", "winner": name[-1].upper()}))

    players = Players(seed, pins.world, press, table.judge, game=table.game)
    while table.view.phase != "over":
        assert pins.world.t < 60 * MINUTES, table.view
        players.act(pins.world.t)
        pins.world.advance(TICK_S)
        for name in [name for name, until in held.items() if until <= pins.world.t]:
            factory.pin(settings.button_pins[name]).drive_high()
            del held[name]
        daemon.step(pins.world.t)
        players.watch(table.view)
        lights.read()
    facts = [fact for _, fact in effective_records(table.journal.read())]
    shown = lights.read()
    expected = prepare_frame(daemon._lit, 69, wanted.brightness, wanted.current_cap_ma)
    daemon.close()
    factory.reset()
    table.journal.close()
    lights.socket.close()
    return facts, players, shown, expected, lights


@pytest.mark.slow
def test_whole_game_on_the_school_mat_matches_truth(settings, tmp_path):
    facts, players, shown, expected, lights = play(settings, tmp_path, 31, 1)
    kinds = [fact.__struct_config__.tag for fact in facts]
    assert shown == expected
    assert lights.pushes > 20
    assert kinds.count("struck") >= len(players.truth.hides)
    assert kinds.count("by_eye") == len(players.truth.hides)
    assert compare(players.truth, facts, players.game) == []
