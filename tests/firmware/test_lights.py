"""The strip's state machine run cycle by cycle, its DMA, and the lamp on each board."""

import sys
from itertools import groupby

import pytest

T0H, T1H, BIT = 3, 7, 10  # cycles of 0.125 us: WS2812B asks for 0.22..0.38 and 0.58..1.0, and 1.25 +- 0.6 a bit


class Line:
    """One PIO instruction as it is written: `.side(level)[delay]`."""

    def __init__(self, do, *words):
        self.do, self.words = do, words

    def side(self, level):
        self.level = level
        return self

    def __getitem__(self, delay):
        self.delay = delay
        return self


def assemble(program):
    """Return (instructions, labels) of an `asm_pio` function."""
    lines, labels = [], {}

    def add(do):
        def instruction(*words):
            lines.append(Line(do, *words))
            return lines[-1]

        return instruction

    names = {"out": add("out"), "jmp": add("jmp"), "nop": add("nop"), "x": "x", "not_x": "not_x"}
    names |= {
        "label": lambda name: labels.update({name: len(lines)}),
        "wrap_target": lambda: None,
        "wrap": lambda: None,
    }
    program.__globals__.update(names)
    program()
    return lines, labels


def wave(program, words):
    """Run the program until the words are out; return the levels, a cycle each, from the first bit on."""
    lines, labels = assemble(program)
    bits = [word >> 31 - i & 1 for word in words for i in range(24)]
    levels, at, x = [], 0, 0
    while True:
        line = lines[at]
        if line.do == "out":
            if not bits:
                return [*levels, line.level]
            x = bits.pop(0)
        levels += [line.level] * (1 + line.delay)
        jumps = line.do == "jmp" and (len(line.words) == 1 or not x)
        at = labels[line.words[-1]] if jumps else (at + 1) % len(lines)


def test_the_wave_of_each_bit_is_the_strips(module):
    program, how = sys.modules["lights"].ws2812
    assert how == {
        "sideset_init": "low", "out_shiftdir": "left", "autopull": True, "pull_thresh": 24, "fifo_join": "join",
    }  # fmt: skip
    words = [0xA5F00100, 0x00FFFF00]
    levels = wave(program, words)
    runs = [(level, len(list(same))) for level, same in groupby(levels)]
    highs = [length for level, length in runs if level]
    sent = "".join("1" if high == T1H else "0" for high in highs)
    assert set(highs) == {T0H, T1H}
    assert sent == "".join(f"{word >> 8:024b}" for word in words)
    assert len(levels) == 48 * BIT + 1
    assert levels[-1] == 0  # idle is low, or the strip never takes the frame


def test_next_frame_waits_for_dma_of_the_last(board, chips):
    chips.us += 5000
    assert board.show()
    assert chips.frames[-1] == [(0, 0, 0)] * 69
    board.paint(67, b"\x01\x02\x03\xff\x00\x80")
    assert not board.show()
    chips.us += 69 * 30
    assert not board.show()
    chips.us += 500
    assert board.show()
    assert chips.frames[-1][66:] == [(0, 0, 0), (1, 2, 3), (255, 0, 128)]
    assert len(chips.frames) == 2
    chips.us += 8000
    assert board.piezo(bytearray(256)) == 1  # the samples' DMA is another one


def lamp(chips, module, name, state):
    """Return what the lamp of board `name` shows in 4 s of `state`, as (lit, ms)."""
    chips.machine = name
    one = sys.modules["lights"].Lamp()
    one.state = state
    shown = []
    for ms in range(0, 4000, 50):
        one.step(ms)
        shown.append(one.on)
    return one, [(lit, 50 * len(list(same))) for lit, same in groupby(shown)]


@pytest.mark.parametrize(
    ("state", "seen"),
    [
        ("wait", [(True, 100), (False, 1900)] * 2),
        ("run", [(True, 4000)]),
        ("fault", [(True, 250), (False, 250)] * 8),
        ("program", [(True, 1000), (False, 1000)] * 2),
    ],
)
def test_each_lamp_state_blinks_at_most_3_hz(module, chips, state, seen):
    assert lamp(chips, module, "Adafruit Feather RP2040 with RP2040", state)[1] == seen
    assert sum(lit for lit, _ in seen) / 4 <= 3


@pytest.mark.parametrize(
    ("name", "pin"),
    [("Adafruit Feather RP2040 with RP2040", 13), ("Raspberry Pi Pico with RP2040", "LED")],
)
def test_a_plain_lamp(module, chips, name, pin):
    lamp(chips, module, name, "run")
    assert chips.pins[pin] == 1
    assert chips.bits == []


@pytest.mark.parametrize(
    ("name", "pin"),
    [("KB2040", 17), ("Adafruit QT Py RP2040 with RP2040", 12), ("RP2040-Zero", 16), ("RP2350-Zero", 16)],
)
def test_a_lamp_of_one_pixel(module, chips, name, pin):
    lamp(chips, module, name, "run")
    assert chips.bits == [(pin, b"\0\0\0"), (pin, b"\x08\x08\x08")]
    assert (chips.pins.get(11) == 1) == ("QT Py" in name)


def test_machine_file_names_board_unknown_to_micropython(module, chips, tmp_path):
    (tmp_path / "machine").write_text("KB2040\n", "utf-8")
    lamp(chips, module, "Raspberry Pi Pico with RP2040", "run")
    assert chips.bits[-1][0] == 17


def test_a_board_without_a_lamp(module, chips):
    assert lamp(chips, module, "nothing", "run")[1] == [(True, 4000)]


def test_the_lamp_blinks_while_files_are_copied(module, chips):
    module.programming()
    [tick] = chips.timers
    seen = []
    for _ in range(40):
        chips.us += 100_000
        tick(None)
        seen.append(chips.pins["LED"])
    assert seen.count(1) == 20


def test_early_starts_are_counted_until_a_calm_one(module, chips):
    chips.reason = 1
    assert [module.Board().early for _ in range(3)] == [1, 2, 3]
    chips.reason = 3  # the watchdog's start says nothing of the supply
    board = module.Board()
    assert (board.boot_count, board.early) == (4, 3)
    board.calm()
    chips.reason = 1
    assert module.Board().early == 1
