"""A TCP line on this machine that can be cut, and that can hold back what is sent while it stays open."""

import asyncio
import threading
from contextlib import suppress

UP, DOWN = "up", "down"
BOTH = frozenset({UP, DOWN})


class CuttableLine:
    """Carries connections to its own `port` on to the port `target`, in a thread; another `target` is for new ones.

    What is sent in a direction that is in `silent` arrives later, as after a switch had lost its power: UP is to
    `target`, DOWN from there.
    """

    def __init__(self, target):
        self.target, self.silent, self.port, self.connections = target, frozenset(), 0, 0
        self._pairs, self._half, self._loop, ready = set(), set(), asyncio.new_event_loop(), threading.Event()
        self._thread = threading.Thread(target=self._work, args=[ready])
        self._thread.start()
        ready.wait()

    def cut(self):
        """Break all connections at once."""
        self._loop.call_soon_threadsafe(self._break, BOTH)

    def cut_half(self, side):
        """Break the connections at one end, UP or DOWN; the other end is not told, and gets nothing more."""
        self._loop.call_soon_threadsafe(self._break, frozenset({side}))

    def close(self):
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()

    def _work(self, ready):
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve(ready))

    async def _serve(self, ready):
        self._closing = asyncio.Event()
        server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._closing.wait()
        server.close()
        self._break(BOTH)
        self.silent = frozenset()
        while self._pairs:
            await asyncio.sleep(0.01)

    def _break(self, sides):
        for pair in self._pairs:
            if sides != BOTH:
                self._half.add(pair)
            for side, writer in zip((DOWN, UP), pair, strict=True):
                if side in sides:
                    writer.transport.abort()

    async def _carry(self, reader, writer):
        self.connections += 1
        with suppress(OSError):
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
            pair = writer, far_writer
            self._pairs.add(pair)
            await asyncio.gather(
                self._pass_on(UP, reader, far_writer, pair), self._pass_on(DOWN, far_reader, writer, pair)
            )
            self._pairs.discard(pair)
            self._half.discard(pair)
            far_writer.close()
        writer.close()

    async def _pass_on(self, way, reader, writer, pair):
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                while way in self.silent:
                    await asyncio.sleep(0.02)
                if pair not in self._half:
                    writer.write(data)
                    await writer.drain()
        if pair not in self._half:
            writer.close()
