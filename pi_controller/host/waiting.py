"""Wait for an event of asyncio code, for at most some time."""

import asyncio
from contextlib import suppress


async def is_set_within(event: asyncio.Event, seconds: float | None) -> bool:
    """Wait until `event` is set, for at most `seconds`; return whether it is."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):  # `wait_for` would create a task each
            return await event.wait()
    return False
