"""The WLED driver: its bytes by DDP's published header, at a receiver on the loopback; away, it costs nothing."""

import io
import json
import socket
import threading

import pytest
from ddp_receiver import DdpReceiver

from pi_controller.board import wled
from pi_controller.board.interfaces import StripError, StripOptions
from pi_controller.board.wled import MAX_PIXELS, WledStrip, encode_frame, make_wled_strip, read_info
from pi_controller.config import read_settings
from pi_controller.errors import SettingsError
from pi_controller.testing import StripContract
from pi_controller.tools import pin_checks

DARK, WHITE = (0, 0, 0), (255, 255, 255)


@pytest.fixture
def receiver():
    made = DdpReceiver()
    yield made
    made.socket.close()


@pytest.fixture
def strip(receiver):
    made = WledStrip(4, "lights", find=lambda host: receiver.address)
    yield made
    made.close()


class TestWledStrip(StripContract):
    def open_strip(self, options):
        receiver = DdpReceiver()
        self.exit_stack.callback(receiver.socket.close)
        strip = WledStrip(
            options.count, "lights", options.brightness, options.cap_ma, find=lambda host: receiver.address
        )
        strip.repeat()
        return strip, receiver.read


def test_long_frame_is_packets_with_one_push(receiver):
    pixels = [(n % 256, n // 256, 7) for n in range(2 * MAX_PIXELS + 5)]
    strip = WledStrip(len(pixels), "lights", cap_ma=1e6, find=lambda host: receiver.address)
    strip.repeat()
    strip.show(pixels)
    assert receiver.read() == pixels
    assert (receiver.pushes, receiver.packets) == (2, [1, 2, 3, 4, 5, 6])
    assert [len(packet) for packet in encode_frame(pixels)] == [1450, 1450, 25]
    strip.close()


def test_sequence_runs_from_one_to_fifteen(strip, receiver):
    strip.repeat()
    for n in range(20):
        strip.show([(n, 0, 0)] * 4)
    receiver.read()
    assert receiver.packets == [n % 15 + 1 for n in range(21)]


def test_controller_found_later_shows_the_newest_frame(receiver):
    there = []

    def find(host):
        if not there:
            raise socket.gaierror(-2, "Name or service not known")
        return receiver.address

    strip = WledStrip(2, "lights", find=find)
    strip.repeat()
    strip.show([(1, 2, 3), DARK])
    strip.show([(4, 5, 6), DARK])
    assert receiver.read() == []
    there.append(True)
    strip.repeat()
    assert receiver.read() == [(4, 5, 6), DARK]
    strip.close()


def test_controller_that_went_away_is_no_error(strip, receiver):
    strip.repeat()
    receiver.socket.close()
    for _ in range(5):
        strip.show([WHITE] * 4)
        strip.repeat()
    strip.close()


def test_new_number_of_a_name_is_found(receiver):
    numbers = [("127.0.0.1", 9), receiver.address]
    strip = WledStrip(1, "lights", find=lambda host: numbers[0])
    strip.repeat()
    numbers.pop(0)
    for _ in range(wled.LOOK_UP_EVERY - 1):
        strip.repeat()
    assert receiver.read() == []
    strip.repeat()
    assert receiver.read() == [DARK]
    strip.close()


def test_unreachable_network_is_no_error(strip, monkeypatch):
    strip.repeat()

    class Unreachable:
        def sendto(self, data, address):
            raise OSError(101, "Network is unreachable")

        def close(self):
            pass

    strip._socket.close()
    monkeypatch.setattr(strip, "_socket", Unreachable())
    strip.show([WHITE] * 4)


def test_factory_repeats_until_it_is_closed(receiver, monkeypatch):
    monkeypatch.setattr(wled, "look_up", lambda host: receiver.address)
    with pytest.raises(StripError):
        make_wled_strip(StripOptions(3))
    before = threading.active_count()
    made = make_wled_strip(StripOptions(3, address="127.0.0.1"))
    assert threading.active_count() == before + 1
    made.close()


def test_settings_need_an_address(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text('[strips]\nkind = "wled"\n', "utf-8")
    with pytest.raises(SettingsError) as caught:
        read_settings(path)
    assert "[strips] address: is missing" in caught.value.message


@pytest.fixture
def controller(monkeypatch):
    """A controller's JSON API: call it with its answer, or with the error of a lost one."""

    def set_answer(body):
        def open_url(url, timeout):
            assert url == "http://lights/json/info"
            if isinstance(body, OSError):
                raise body
            return io.BytesIO(body if isinstance(body, bytes) else json.dumps(body).encode())

        monkeypatch.setattr(wled, "urlopen", open_url)

    return set_answer


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ({"name": "Mat", "ver": "0.15.0", "leds": {"count": 72}}, "pass"),
        ({"name": "Mat", "ver": "0.15.0", "leds": {"count": 30}}, "fail"),
        ({"name": "Printer"}, "fail"),
        ([], "fail"),
        (b"<html>", "fail"),
        (OSError(113, "No route to host"), "fail"),
    ],
)
def test_doctor_asks_the_controller_for_its_pixels(tmp_path, controller, body, outcome):
    path = tmp_path / "table.toml"
    path.write_text('[strips]\nkind = "wled"\naddress = "lights"\n', "utf-8")
    controller(body)
    (line,) = pin_checks.strips(read_settings(path))
    assert line.outcome == outcome
    assert bool(line.hint) == (outcome == "fail")


def test_info_has_name_version_and_pixels(controller):
    controller({"name": "Mat", "ver": "0.15.0", "leds": {"count": 69}})
    assert read_info("lights") == ("Mat", "0.15.0", 69)
