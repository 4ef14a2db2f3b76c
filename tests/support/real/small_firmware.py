"""A small firmware that says HELLO back."""

from pi_controller.board import wire
from pi_controller.tools.find_board import make_firmware

MAIN = b"import sampler\n\n# the prompt of the tests runs no mat: work = sampler.Sampler(mat)\n"


def small(version="0.2.0", **more):
    """Return a firmware of a few lines: its board answers whatever it hears with its WELCOME."""
    body = wire.welcome_body(
        firmware=tuple(map(int, version.split("."))),
        board=b"moccasin",
        boots=7,
        reason=2,
        features=7,
        pads=4,
        sample_hz=4000,
        block_samples=32,
    )
    sampler = (
        f"WELCOME = {wire.seal(body, 0)!r}\n\n\n"
        "class Sampler:\n"
        "    def __init__(self, board):\n        self.board = board\n\n"
        "    def step(self):\n        if self.board.read():\n            self.board.write(WELCOME)\n"
    )
    files = {"main.py": MAIN, "sampler.py": sampler.encode(), "pins.py": b"SDA = 4\n" * 60}
    return make_firmware(version, files | {f"{name}.py": data for name, data in more.items()})
