"""A TCP line on this machine that can be cut, and that can lose what is sent while it stays open."""

import asyncio
import threading
from contextlib import suppress


class CuttableLine:
    """Carries connections to its own `port` on to the port `target`, in a thread.

    While `silent` it takes what is sent and carries nothing on, as when a switch has lost its power.
    """

    def __init__(self, target):
        self.target, self.silent, self.port, self.connections = target, False, 0, 0
        self._writers, self._loop, ready = set(), asyncio.new_event_loop(), threading.Event()
        self._thread = threading.Thread(target=self._work, args=[ready])
        self._thread.start()
        ready.wait()

    def cut(self):
        """Break all connections at once."""
        self._loop.call_soon_threadsafe(self._break)

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
        self._break()

    def _break(self):
        for writer in self._writers:
            writer.transport.abort()

    async def _carry(self, reader, writer):
        self.connections += 1
        self._writers.add(writer)
        with suppress(OSError):
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
            self._writers.add(far_writer)
            await asyncio.gather(self._pass_on(reader, far_writer), self._pass_on(far_reader, writer))
            self._writers.discard(far_writer)
        self._writers.discard(writer)
        writer.close()

    async def _pass_on(self, reader, writer):
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                if not self.silent:
                    writer.write(data)
                    await writer.drain()
        writer.close()
