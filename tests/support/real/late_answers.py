"""Answers to browsers that come late, as over a slow network: each part of them `MOCCASIN_DELAY_S` seconds later."""

import asyncio
import os
from contextlib import contextmanager
from unittest import mock

from pi_controller.web.server import WebServer

DELAY_S = float(os.environ.get("MOCCASIN_DELAY_S", "0"))


def delay(app, delay_s=DELAY_S):
    """Return `app` with late answers to browsers; other clients wait for nothing."""

    async def answer_late(scope, receive, send):
        if scope["type"] != "http" or b"Mozilla" not in dict(scope["headers"]).get(b"user-agent", b""):
            return await app(scope, receive, send)
        loop, parts = asyncio.get_running_loop(), asyncio.Queue()

        async def keep(part):
            await parts.put((loop.time() + delay_s, part))

        async def deliver():
            while part := await parts.get():
                await asyncio.sleep(part[0] - loop.time())
                await send(part[1])

        delivery = loop.create_task(deliver())
        try:
            await app(scope, receive, keep)
            await parts.put(None)
            await delivery
        finally:
            delivery.cancel()

    return answer_late


@contextmanager
def late_answers():
    """Delay the answers of all servers that are started."""
    start = WebServer.start

    def start_late(server):
        server.app = delay(server.app)
        start(server)

    with mock.patch.object(WebServer, "start", start_late):
        yield
