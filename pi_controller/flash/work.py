"""The steps of a flash on one board: inspect, copy, verify, restart. The caller decides between looking and writing."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.errors import PortError
from pi_controller.flash import locate, remote
from pi_controller.flash.firmware import FlashError
from pi_controller.flash.locate import PUT_MICROPYTHON
from pi_controller.flash.on_board import NEW, clear, look, parse_look, put_in_place
from pi_controller.flash.probe import ANSWER_S, STAY, ask, ours

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.flash.firmware import Firmware
    from pi_controller.flash.on_board import Found, Who
    from pi_controller.flash.plan import Plan
    from pi_controller.flash.probe import Answer

COPY_S = 120.0
"""Copying takes some seconds; this is for a board that hangs."""
FIRST_ANSWER_S = 8.0
"""A board that starts answers in a second or two, and gives signs of life till then; it is waited for from the last."""
START_S = 120.0
"""So long in all."""


class Work:
    """Work on the board at `device`. `limit_s` bounds each talk of mpremote with it, `answer_s` a mat's answer."""

    def __init__(self, device: str, limit_s: float = remote.LIMIT_S, answer_s: float = ANSWER_S) -> None:
        self.device = device
        self._limit_s = limit_s
        self._answer_s = answer_s

    def open_up(self) -> Answer | None:
        """Interrupt the firmware so that files can be copied; return the identity of the mat that ran, if any.

        Raises `PortError` when the port is held, forbidden or lost.
        """
        port = locate.opened(self.device)
        try:
            answer = ask(port, self._answer_s).answer
            if answer is None:
                return None
            before = locate.mark(self.device)
            with suppress(PortError):  # it may leave while it hears this
                port.write(STAY)
        finally:
            port.close()
        locate.wait_until_back(self.device, before)
        return answer

    def look(self) -> tuple[Who, Found | None]:
        """Return what is on the board. Raises `PortError`, and `FlashError` where no MicroPython answers."""
        before = locate.mark(self.device)
        try:
            return parse_look(self._mpremote("exec", look()))
        except PortError:
            # a mat that hung in its start is interrupted by mpremote, leaves, and comes back without its program
            locate.wait_until_back(self.device, before)
            return parse_look(self._mpremote("exec", look()))
        except remote.SilentError as error:
            raise FlashError(error.what, f"if it is new, or runs another system: {PUT_MICROPYTHON}") from error

    def write(self, firmware: Firmware, plan: Plan, copied: Callable[[str], None]) -> None:
        """Copy what `plan` says beside the old files, check it on the board, and put it in place all at once.

        `copied` is called with each name. The board restarts at the end. Raises `PortError` and `FlashError`; before
        the last moment the old files are untouched.
        """
        with tempfile.TemporaryDirectory() as folder:
            commands = ["exec", clear(plan.left)]
            for name in plan.copy:
                path = Path(folder) / name
                path.write_bytes(firmware.files[name])
                commands += ["fs", "cp", "-f", str(path), f":{name}{NEW}", "+", "exec", f"print('MAT copied {name}')"]
            hashes = {name: firmware.hashes[name] for name in plan.copy}
            commands += ["exec", put_in_place(hashes, plan.stale, main=plan.has_main)]
            remote.run(self.device, commands, COPY_S, lambda line: copied(line.rpartition(" ")[2]))

    def restart(self) -> None:
        """Start the board anew, as if it was plugged in, and wait until it is back. Raises `PortError`."""
        before = locate.mark(self.device)
        with suppress(PortError):  # it may leave in the middle of a goodbye
            self._mpremote("reset")
        locate.wait_until_back(self.device, before)

    def meet(self, firmware: Firmware) -> Answer:
        """Say HELLO to the mat that runs now; raise `FlashError` where it is not this firmware."""
        port = locate.opened(self.device)
        try:
            result = ask(port, FIRST_ANSWER_S, starting_s=START_S)
        finally:
            port.close()
        answer = result.answer
        if result.prompt:
            raise FlashError(
                "the firmware is on the board, but its program ended, and MicroPython's prompt is there",
                "'moccasin-mat flash --check' shows its last crash, if it kept one",
            )
        if answer is None:
            raise FlashError(
                "the firmware is on the board, but the board does not answer",
                "unplug it and plug it in; then 'moccasin-mat flash --check' shows its last crash, if it had one",
            )
        if not answer.understood or answer.firmware != firmware.version:
            identity = answer.text()
            raise FlashError(
                f"the board {identity if not answer.understood else f'answers with firmware {answer.firmware}'}; "
                f"copied was firmware {firmware.version}, protocol {ours()}",
                "say 'moccasin-mat flash' once more",
            )
        return answer

    def _mpremote(self, *commands: str) -> str:
        return remote.run(self.device, commands, self._limit_s)
