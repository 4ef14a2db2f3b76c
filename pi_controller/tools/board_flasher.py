"""Flash one board in steps: inspect, copy, verify, restart. The caller decides whether to write."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pi_controller.errors import PortError
from pi_controller.tools import find_board, probe
from pi_controller.tools.board_files import (
    INSPECT,
    NEW,
    BoardFiles,
    BoardPython,
    install_program,
    parse_inspection,
    remove_program,
)
from pi_controller.tools.boot_drive import MICROPYTHON_HINT, FlashError
from pi_controller.tools.find_board import Firmware
from pi_controller.tools.flash_plan import FlashPlan
from pi_controller.tools.mpremote import LIMIT_S, SilentError, run_mpremote
from pi_controller.tools.probe import BoardIdentity

COPY_S = 120.0
"""Time limit for copying, which takes some seconds, in case the board hangs."""
FIRST_ANSWER_S = 8.0
"""Longest wait for an answer after the last data from a starting board, which takes a second or two."""
START_S = 120.0
"""Longest wait in all."""


class BoardFlasher:
    """Flashes the board at `device`. `limit_s` limits each run of mpremote, `answer_s` the wait for a mat's answer."""

    def __init__(self, device: str, limit_s: float = LIMIT_S, answer_s: float = probe.ANSWER_S) -> None:
        self.device = device
        self._limit_s = limit_s
        self._answer_s = answer_s

    def interrupt_firmware(self) -> BoardIdentity | None:
        """Interrupt the firmware so that files can be copied; return the identity of the mat that was running, if any.

        Raises `PortError` if the port is held, forbidden or lost.
        """
        port = find_board.open_port(self.device)
        try:
            answer = probe.probe(port, self._answer_s).answer
            if answer is None:
                return None
            before = find_board.enumeration_id(self.device)
            with suppress(PortError):  # the board may restart during the write
                port.write(probe.INTERRUPT)
        finally:
            port.close()
        find_board.wait_until_back(self.device, before)
        return answer

    def inspect(self) -> tuple[BoardPython, BoardFiles | None]:
        """Inspect the board's Python and files. Raises `PortError`, and `FlashError` if no MicroPython answers."""
        before = find_board.enumeration_id(self.device)
        try:
            return parse_inspection(self._mpremote("exec", INSPECT))
        except PortError:
            # mpremote interrupts a mat that hangs in its start; it then restarts without its program
            find_board.wait_until_back(self.device, before)
            return parse_inspection(self._mpremote("exec", INSPECT))
        except SilentError as error:
            raise FlashError(error.message, f"if it is new, or runs another system: {MICROPYTHON_HINT}") from error

    def write(self, firmware: Firmware, plan: FlashPlan, copied: Callable[[str], None]) -> None:
        """Copy the files of `plan` beside the old ones, verify them on the board, and install them all at once.

        `copied` is called with each name. The board restarts at the end. Raises `PortError` and `FlashError`; the old
        files stay untouched until the final step.
        """
        with tempfile.TemporaryDirectory() as folder:
            commands = ["exec", remove_program(plan.left)]
            for name in plan.copy:
                path = Path(folder) / name
                path.write_bytes(firmware.files[name])
                commands += ["fs", "cp", "-f", str(path), f":{name}{NEW}", "+", "exec", f"print('MAT copied {name}')"]
            hashes = {name: firmware.hashes[name] for name in plan.copy}
            commands += ["exec", install_program(hashes, plan.stale, main=plan.has_main)]
            run_mpremote(self.device, commands, COPY_S, lambda line: copied(line.rpartition(" ")[2]))

    def restart(self) -> None:
        """Restart the board as if it had been plugged in, and wait until it is back. Raises `PortError`."""
        before = find_board.enumeration_id(self.device)
        with suppress(PortError):  # the board may disappear before mpremote is done
            self._mpremote("reset")
        find_board.wait_until_back(self.device, before)

    def verify_running(self, firmware: Firmware) -> BoardIdentity:
        """Send HELLO to the mat that runs now. Raises `FlashError` if it does not run this firmware."""
        port = find_board.open_port(self.device)
        try:
            result = probe.probe(port, FIRST_ANSWER_S, starting_s=START_S)
        finally:
            port.close()
        answer = result.answer
        if result.prompt:
            raise FlashError(
                "the firmware is on the board, but its program ended, and MicroPython's prompt is there",
                "'moccasin-mat mat flash --check' shows its last crash, if it kept one",
            )
        if answer is None:
            raise FlashError(
                "the firmware is on the board, but the board does not answer",
                "unplug it and plug it in; then 'moccasin-mat mat flash --check' shows its last crash, if it had one",
            )
        if not answer.is_supported or answer.firmware != firmware.version:
            identity = answer.text()
            raise FlashError(
                f"the board {identity if not answer.is_supported else f'answers with firmware {answer.firmware}'}; "
                f"copied was firmware {firmware.version}, protocol {probe.own_protocol()}",
                "run 'moccasin-mat mat flash' once more",
            )
        return answer

    def _mpremote(self, *commands: str) -> str:
        return run_mpremote(self.device, commands, self._limit_s)
