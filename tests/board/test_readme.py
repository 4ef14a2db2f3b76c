"""The protocol page tells the truth: its session decodes to what it says, its tables have the sizes of the code."""

import re
from pathlib import Path

from pi_controller.board import wire

PAGE = (Path(__file__).parents[2] / "pi_controller" / "help" / "pages" / "reference" / "wire.md").read_text("utf-8")
SESSION = (Path(__file__).parent / "session.txt").read_text("utf-8")
NAMES = {
    getattr(wire, name): name
    for name in (
        *("HELLO", "PING", "BYE", "LIGHTS", "TEST", "ACK", "BUILT"),
        *("WELCOME", "PONG", "PIEZO", "TOUCH", "FIELD", "HEALTH", "DONE", "EVENT"),
    )
}


def words(kind, number, payload):
    """Say a frame in the words of the page."""
    start = f"{NAMES[kind]} {number}"
    if kind == wire.HELLO:
        return f"{start}: protocol {wire.hello(payload)[0]}.{wire.hello(payload)[1]}"
    if kind == wire.WELCOME:
        major, minor, x, y, z, board, boots, reason, features, pads, hz, block = wire.welcome(payload)
        return (
            f"{start}: protocol {major}.{minor}, firmware {x}.{y}.{z}, board {board.hex()}, start {boots}, "
            f"reason {reason}, features {features}, {pads} pads, {hz} Hz, {block} samples a block"
        )
    if kind == wire.PING:
        return f"{start}: mark {wire.ping(payload)[0]}"
    if kind == wire.PONG:
        return "{}: mark {}, {} us".format(start, *wire.pong(payload))
    if kind == wire.PIEZO:
        samples = [int.from_bytes(payload[i : i + 2], "little") for i in range(wire.PIEZO_HEAD, len(payload), 2)]
        return "{}: index {}, {} lost, {} us, samples {}".format(start, *wire.piezo(payload), samples)
    if kind == wire.TOUCH:
        us, *counts = wire.touch(payload)
        return f"{start}: {us} us, counts {counts}"
    if kind == wire.HEALTH:
        return "{}: up {} ms, {} lost blocks, {} bus errors, {} bad frames, longest pass {} us, {} us".format(
            start, *wire.health(payload)
        )
    if kind == wire.LIGHTS:
        return f"{start}: order {wire.order(payload)}, " + ", ".join(runs(payload))
    if kind == wire.TEST:
        return f"{start}: order {wire.order(payload)}"
    if kind == wire.BUILT:
        return f"{start}: order {wire.order(payload)}, magnetometers {wire.built_mask(payload):#08x}"
    if kind == wire.ACK:
        return "{}: up to {}".format(start, *wire.ack(payload))
    if kind == wire.DONE:
        return "{}: order {}, result {}".format(start, *wire.done(payload))
    if kind == wire.EVENT:
        form = "{}: event {}, {} before it, {} dropped, {} us, kind {}, part {}, value {}"
        return form.format(start, *wire.event(payload))
    return start


def runs(payload):
    """Say the runs of a LIGHTS; every pixel by itself unless all of a run are alike."""
    for first, colours in wire.runs(payload, 69):
        pixels = [colours[i : i + 3].hex() for i in range(0, len(colours), 3)]
        if len(pixels) > 1 and len(set(pixels)) == 1:
            yield f"pixel {first}: {len(pixels)} times {pixels[0]}"
        else:
            yield f"pixel {first}: {' '.join(pixels)}"


def lines():
    return re.findall(r"^    ([<>]) ([0-9a-f]{2}(?: [0-9a-f]{2})+)\n      (.+)$", SESSION, re.MULTILINE)


def test_hex_dump_decodes_to_its_annotations():
    to_board = wire.Decoder(wire.TO_BOARD, wire.HELLO)
    to_host = wire.Decoder(wire.TO_HOST, wire.WELCOME)
    seen = set()
    for way, hexes, said in lines():
        ears = to_board if way == ">" else to_host
        [frame] = ears.feed(bytes.fromhex(hexes))
        assert words(*frame) == said
        seen.add(frame[0])
    assert len(seen) == 14  # all but FIELD, which would be long


def test_the_tables_have_the_codes_and_sizes():
    rows = {
        name: (code, size)
        for name, code, size in re.findall(r"^\| ([A-Z]+) +\| `(0x..)` +\| ([^|]+?) *\|", PAGE, re.MULTILINE)
    }
    sizes = {**wire.TO_BOARD, **wire.TO_HOST}
    assert set(rows) == set(NAMES.values())
    for kind, name in NAMES.items():
        size = {wire.PIEZO: "14 + 8 n", wire.LIGHTS: "2 + runs"}.get(kind, str(sizes[kind]))
        assert rows[name] == (f"{kind:#04x}", size)


def test_the_page_states_the_protocol():
    assert "protocol {}.{}".format(*wire.PROTOCOL) in PAGE


def test_page_lists_same_event_kinds_as_code():
    assert f"kinds 1 to {wire.KINDS};" in " ".join(PAGE.split())
    code = Path(wire.__file__).read_text("utf-8").split("# EVENT's kinds", 1)[1].split("KINDS =", 1)[0]
    assert [int(kind) for kind in re.findall(r"^[A-Z_]+ = (\d+)", code, re.MULTILINE)] == list(range(1, wire.KINDS + 1))
