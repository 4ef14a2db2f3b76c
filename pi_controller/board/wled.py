"""Driver of a ready-made WLED controller in the network: DDP (Distributed Display Protocol) over UDP, without answers.

A frame is one packet for each 480 pixels: a header of ten bytes (version and push flag, a number from 1 to 15, the type
RGB of 8 bits, the output, the offset and the length in bytes), then red, green and blue of each pixel. The last packet
has the push flag, which shows the frame.

UDP never waits: a controller that is away costs the table nothing, and shows the newest frame within a second of its
return. `REPEAT_S` is also shorter than the 2.5 s after which WLED returns to its own effects. Names are looked up in
the repeating thread, because that may take seconds.
"""

import json
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from http.client import HTTPException
from typing import NamedTuple
from urllib.request import urlopen

from pi_controller.board.interfaces import Rgb, StripError, StripOptions
from pi_controller.board.strips import CAP_MA, LimitedStrip
from pi_controller.errors import describe_error

PORT = 4048
HEADER = struct.Struct(">BBBBIH")
VERSION, PUSH = 0x40, 0x01
RGB_8 = 0x0B
OUTPUT = 1
MAX_PIXELS = 480
"""Of a packet, so that it fits a frame of Ethernet."""
REPEAT_S = 1.0
LOOK_UP_EVERY = 30
"""Repeats until a name is looked up again: its controller may have another number by then."""
INFO_S = 3.0
MAX_INFO_BYTES = 100_000
Address = tuple[str, int]


def encode_frame(pixels: Sequence[Rgb], number: int = 0) -> list[bytes]:
    """Return the packets of a frame; `number` counts the packets from 1 to 15, 0 counts none.

    >>> [packet.hex(" ") for packet in encode_frame([(1, 2, 3)], 7)]
    ['41 07 0b 01 00 00 00 00 00 03 01 02 03']
    """
    packets: list[bytes] = []
    for first in range(0, len(pixels), MAX_PIXELS):
        data = bytes(channel for pixel in pixels[first : first + MAX_PIXELS] for channel in pixel)
        flags = VERSION | (PUSH if first + MAX_PIXELS >= len(pixels) else 0)
        packets.append(HEADER.pack(flags, number, RGB_8, OUTPUT, 3 * first, len(data)) + data)
        number = number and number % 15 + 1
    return packets


def look_up(host: str) -> Address:
    """Return the address of `host`, a name or a number. Raises `OSError` if there is none."""
    return socket.getaddrinfo(host, PORT, socket.AF_INET, socket.SOCK_DGRAM)[0][4]  # type: ignore[return-value]


class WledStrip(LimitedStrip):
    """The first `count` pixels of the WLED controller at `host`; `find` returns its address.

    Call `repeat` each `REPEAT_S` seconds, or `start` a thread that does.
    """

    def __init__(
        self,
        count: int,
        host: str,
        brightness: float = 1.0,
        cap_ma: float = CAP_MA,
        find: Callable[[str], Address] = look_up,
    ) -> None:
        super().__init__(count, brightness, cap_ma)
        self._host, self._find = host, find
        self._address: Address | None = None
        self._repeats = 0
        self._number = 1
        self._newest: Sequence[Rgb] = self.dark
        self._stop, self._lock = threading.Event(), threading.Lock()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)

    def start(self) -> None:
        """Repeat the newest frame in a thread until the strip is closed."""
        threading.Thread(target=self._run, name="WLED", daemon=True).start()

    def repeat(self) -> None:
        """Look the controller up, if it is time to, and send the newest frame again."""
        if self._address is None or self._repeats % LOOK_UP_EVERY == 0:
            with suppress(OSError):  # it may come later
                self._address = self._find(self._host)
        self._repeats += 1
        with self._lock:
            if not self._stop.is_set():
                self._transmit(self._newest)

    def send(self, pixels: Sequence[Rgb]) -> None:
        """Send `pixels` at once, if the controller has been found."""
        with self._lock:
            self._newest = pixels
            self._transmit(pixels)

    def release(self) -> None:
        """Stop repeating; WLED returns to what it showed before."""
        with self._lock:
            self._stop.set()
            self._socket.close()

    def _run(self) -> None:
        while not self._stop.is_set():
            self.repeat()
            self._stop.wait(REPEAT_S)

    def _transmit(self, pixels: Sequence[Rgb]) -> None:
        if self._address is None:
            return
        packets = encode_frame(pixels, self._number)
        self._number = (self._number + len(packets) - 1) % 15 + 1
        for packet in packets:
            with suppress(OSError):  # no network, or its buffer is full: the next frame may come through
                self._socket.sendto(packet, self._address)


def make_wled_strip(options: StripOptions) -> WledStrip:
    """Return the strip of the controller at `options.address`, which need not be there yet."""
    if not options.address:
        raise StripError("there is no WLED controller without an address", "set [strips] address")
    strip = WledStrip(options.count, options.address, options.brightness, options.cap_ma)
    strip.start()
    return strip


class WledInfo(NamedTuple):
    """What a controller tells about itself."""

    name: str
    version: str
    pixels: int


def read_info(host: str, timeout_s: float = INFO_S) -> WledInfo:
    """Return what the controller at `host` says at /json/info. Raises `StripError` if it does not answer."""
    try:
        with urlopen(f"http://{host}/json/info", timeout=timeout_s) as answer:
            found = json.loads(answer.read(MAX_INFO_BYTES))
        return WledInfo(str(found["name"]), str(found["ver"]), int(found["leds"]["count"]))
    except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
        why = describe_error(error) if isinstance(error, OSError) else "its answer is not WLED's"
        raise StripError(
            f"no WLED controller answers at {host}: {why}",
            "check its supply, its Wi-Fi and [strips] address; the game goes on without lights",
        ) from error
