"""The converter on gpiozero's mock pins, and its reader as the process it is."""

import struct

import numpy as np
import pytest
from gpiozero import MCP3008, Device
from gpiozero.pins.mock import MockFactory
from mock_chips import Mcp3008Slave, QuickFactory

from pi_controller.board.chips import SCAN
from pi_controller.board.mcp3008 import FLUSH_S, RECORD, Mcp3008, stream_readings
from pi_controller.errors import PortError
from pi_controller.pinmap import pinmap

COUNTS = [0, 1, 511, 1023, 700, 2, 3, 4]


@pytest.fixture
def factory(monkeypatch):
    factory = MockFactory()
    monkeypatch.setattr(Device, "pin_factory", factory)  # gpiozero's software bus asks for it, whatever it is given
    yield factory
    factory.reset()


def test_readings_match_gpiozero_mcp3008(factory):
    Mcp3008Slave(factory, COUNTS.__getitem__)
    chip = Mcp3008(factory)
    assert chip.scan() == COUNTS[:4]
    chip.close()
    chip.close()
    for channel in pinmap().pi.mcp3008.channels:
        with MCP3008(channel, pin_factory=factory) as own:
            assert own.raw_value == COUNTS[channel]


def test_quick_factory_behaves_like_the_chip():
    quick = QuickFactory(COUNTS.__getitem__)
    chip = Mcp3008(quick)
    assert chip.scan() == COUNTS[:4]
    assert chip.bus.hz == pinmap().pi.mcp3008.hz


def test_pin_map_matches_pins_of_spi_port(factory):
    Mcp3008Slave(factory, COUNTS.__getitem__)
    chip = Mcp3008(factory)
    assert {pin.info.name for pin in factory.pins.values()} == {f"GPIO{pin}" for pin in pinmap().pi.mcp3008.pins}
    chip.close()


@pytest.mark.parametrize("stuck", ["low", "high"])
def test_missing_chip_is_refused(factory, stuck):
    class Nothing(Mcp3008Slave):
        def on_bit(self):
            self.tx_buf = [stuck == "high"]

    Nothing(factory, None)
    with pytest.raises(PortError, match="does not answer") as error:
        Mcp3008(factory)
    assert "GPIO8" in error.value.hint


def test_silent_chip_fails_the_scan():
    quick = QuickFactory(COUNTS.__getitem__)
    chip = Mcp3008(quick)
    quick.bus.there = False
    with pytest.raises(PortError, match="does not answer"):
        chip.scan()


def test_disabled_spi_is_refused_without_bit_banging(factory, monkeypatch):
    def broken(*args, **kwargs):
        raise FileNotFoundError("/dev/spidev0.0")

    monkeypatch.setattr(factory, "_get_spi_class", lambda shared, hardware: broken)
    with pytest.raises(PortError, match=r"SPI0\.0 cannot be opened") as error:
        Mcp3008(factory)
    assert "raspi-config" in error.value.hint


class EnoughError(Exception):
    pass


def test_records_are_written_in_small_batches():
    now, written = [10.0], []

    def clock():
        now[0] += 0.00025
        return now[0]

    def write(data):
        written.append(data)
        if len(written) == 5:
            raise EnoughError

    with pytest.raises(EnoughError):
        stream_readings(Mcp3008(QuickFactory(COUNTS.__getitem__)), write, clock)
    scans = np.frombuffer(b"".join(written), SCAN)
    assert scans["counts"].tolist() == [COUNTS[:4]] * len(scans)
    assert (scans["ended"] > scans["began"]).all()
    assert len(scans) >= 5 * FLUSH_S / 0.0005 - 1
    assert RECORD.size == SCAN.itemsize


def test_record_layout_matches_numpy_dtype():
    one = np.frombuffer(RECORD.pack(1.5, 2.5, 1, 2, 3, 4), SCAN)[0]
    assert (one["began"], one["ended"], one["counts"].tolist()) == (1.5, 2.5, [1, 2, 3, 4])
    assert struct.calcsize(RECORD.format) == 24
