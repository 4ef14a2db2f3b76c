"""One JSON decoder for each type, made by one thread at a time.

msgspec 0.22 crashes the process if two threads decode into a Struct for the first time at once: the second one uses
what the first has not finished.
"""

import threading
from functools import cache
from typing import Any

import msgspec

_making = threading.Lock()


@cache
def json_decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """Return the decoder of `kind`, a Struct, a union or what else `msgspec.json.decode` takes; from any thread."""
    with _making:
        return msgspec.json.Decoder(kind)
