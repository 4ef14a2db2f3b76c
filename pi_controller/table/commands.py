"""Queue of commands from other threads to the thread of a loop, with their results back.

A table, an exhibit and their journals belong to one thread. Another thread, such as the web server's, puts a command on
the queue and waits; the loop drains the queue in each step, in order.
"""

from __future__ import annotations

import asyncio
import logging
import queue
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar, cast

from pi_controller.errors import MatError

MAX_WAITING_COMMANDS = 64
MAX_COMMANDS_PER_STEP = 8
"""Most commands executed in one step: each may be written to disk, and the mat must be read in between."""
TIMEOUT_S = 2.0

log = logging.getLogger(__name__)

CommandT = TypeVar("CommandT")
ResultT = TypeVar("ResultT")


class CommandQueueError(MatError, RuntimeError):
    """The loop does not answer: the queue is full, or the loop hangs."""

    code = "busy"


class CommandFailedError(MatError, RuntimeError):
    """A fault of the program ended a command; the loop goes on."""

    code = "fault"


class CommandQueue(Generic[CommandT, ResultT]):
    """Commands for one loop. Call `put` and `submit` in any thread, but `drain` in the loop's thread only.

    `name` is what people are told does not answer.
    """

    def __init__(self, most: int = MAX_WAITING_COMMANDS, name: str = "the table") -> None:
        self._name = name
        self._waiting: queue.Queue[tuple[CommandT, Future[ResultT]]] = queue.Queue(most)

    def put(self, command: CommandT) -> Future[ResultT]:
        """Send `command` without waiting. Raises `CommandQueueError` if the queue is full."""
        answer: Future[ResultT] = Future()
        try:
            self._waiting.put_nowait((command, answer))
        except queue.Full:
            raise CommandQueueError(
                "too many commands wait for {name}", "try again in a moment", name=self._name
            ) from None
        return answer

    async def submit(self, command: CommandT, timeout_s: float = TIMEOUT_S) -> ResultT:
        """Send `command` and return its result.

        Raises what its execution raises, and `CommandQueueError` if the queue is full or no answer comes within
        `timeout_s` seconds. In the latter case the command was not executed, unless the loop took it at that very
        moment.
        """
        answer = self.put(command)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(answer), timeout_s)
        except TimeoutError:
            raise CommandQueueError(
                "{name} does not answer", "check whether it was done, then try again", name=self._name
            ) from None

    def drain(
        self, execute: Callable[[CommandT], ResultT | Future[ResultT]], finish: Callable[[], object] | None = None
    ) -> int:
        """Call `execute` with up to `MAX_COMMANDS_PER_STEP` waiting commands, then `finish`, then send the results.

        A result that takes longer may be a future. An exception is the answer of its command and ends nothing. Returns
        the number of commands.
        """
        done: list[tuple[Future[ResultT], ResultT | Future[ResultT] | MatError]] = []
        for _ in range(MAX_COMMANDS_PER_STEP):
            try:
                command, answer = self._waiting.get_nowait()
            except queue.Empty:
                break
            if not answer.set_running_or_notify_cancel():
                continue  # the sender has stopped waiting
            try:
                done.append((answer, execute(command)))
            except MatError as error:
                done.append((answer, error))
            except Exception:
                log.exception("a command failed: %s", type(command).__name__)
                fault = CommandFailedError(
                    "an error in the program stopped this", "look whether it was done; see the log"
                )
                done.append((answer, fault))
        if finish is not None:
            finish()  # first, so that the senders then read the new state
        for answer, result in done:
            _send(answer, result)
        return len(done)


def _send(answer: Future[ResultT], result: ResultT | Future[ResultT] | MatError) -> None:
    if isinstance(result, Future):
        later = cast("Future[ResultT]", result)
        later.add_done_callback(lambda _: _send(answer, later.result()))
    elif isinstance(result, MatError):
        answer.set_exception(result)
    else:
        answer.set_result(result)
