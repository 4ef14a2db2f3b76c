"""The order by which a stick resets an installation: for one machine, for one time, signed by the host.

It is a small file that anybody can write, and the staff page shows what belongs into it:

    machine = "3f9a21c0"        # of this machine alone
    number = "48312077"         # of the next reset alone: once it is done there is another
    old_files = "aside"         # or "erased"
    reset = ["settings", "texts", "people", "usage", "journals"]      # may be left out

What is not signed by a key of the host is not even read: a visitor has a stick, too.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import AfterValidator, BeforeValidator, Field

from pi_controller.errors import MatError
from pi_controller.exhibit.staff import Reset
from pi_controller.games.wording import shown
from pi_controller.setup.place import NAME, RESET_PARTS, RESETS, SIGNERS, USUALLY_RESET, ResetPart
from pi_controller.setup.signed import copied, how, signature, verify
from pi_controller.setup.update import last_line
from pi_controller.table.settings_fields import Section
from pi_controller.table.settings_file import read_model

FILE = f"{NAME}-reset.toml"
NAMESPACE = f"{NAME}-reset"
MOST_BYTES = 10_000
_MACHINE_ID = Path("/etc/machine-id")


class ResetError(MatError, RuntimeError):
    """A reset that is refused; nothing was changed."""

    code = "reset"


def _plain(text: str) -> str:
    return "".join(text.split()).replace("-", "").lower()


def _parts(value: object) -> object:
    found = tuple(cast("list[object]", value)) if isinstance(value, list) else value
    if not isinstance(found, tuple) or not found or set(cast("tuple[object, ...]", found)) - set(RESET_PARTS):
        raise ValueError(f"must be a list of some of {', '.join(RESET_PARTS)}, not {shown(value)}")
    return cast("object", found)


class Order(Section):
    """What stands in the file."""

    machine: Annotated[str, AfterValidator(_plain)]
    number: Annotated[str, AfterValidator(_plain)]
    old_files: Literal["aside", "erased"]
    reset: Annotated[tuple[ResetPart, ...], BeforeValidator(_parts)] = Field(
        default=USUALLY_RESET, json_schema_extra={"takes": f"a list of some of {', '.join(RESET_PARTS)}"}
    )


def machine_mark(root: Path = Path("/")) -> str:
    """Return what an order calls this machine, made of its id, which it does not tell. Raises `ResetError`."""
    path = root / _MACHINE_ID.relative_to("/")
    try:
        number = path.read_text("ascii").strip()
    except (OSError, UnicodeError):
        number = ""
    if len(number) != 32:  # the first start writes "uninitialized"
        raise ResetError(f"this machine has no id in {path}: no order can be for it", "start the machine anew")
    return hashlib.sha256(f"{NAMESPACE} {number}".encode()).hexdigest()[:8]


def example(machine: str, number: str) -> str:
    """Return an order for this machine's next reset, to be signed by the host."""
    return f'machine = "{machine}"\nnumber = "{number}"\nold_files = "aside"\n'


def waiting() -> Reset | None:
    """Return what is known of resets on this machine; None where it takes none."""
    with suppress(OSError, UnicodeError, MatError):
        number = (RESETS / "number").read_text("ascii").strip()
        return Reset(example(machine_mark(), number), SIGNERS.is_file(), last_line(RESETS))
    return None


def read_order(source: Path, signers: Path) -> Order:
    """Return the signed order at `source`, that file or one in that folder. Raises `ResetError`."""
    file = source / FILE if source.is_dir() else source
    if not file.is_file():
        raise ResetError(f"there is no order {file}", "the staff page shows what stands in one")
    if not signature(file).is_file():
        raise ResetError(f"{file.name} is not signed: there is no {signature(file).name}", how(NAMESPACE))
    room = Path(tempfile.mkdtemp(prefix="reset-"))
    try:
        copy = copied(file, room / "order", MOST_BYTES, ResetError)
        verify(copy, signers, NAMESPACE, ResetError)
        return read_model(copy, Order, todo="mend the order and sign it again")
    except OSError as error:
        todo = "was the stick pulled out? try it again"
        raise ResetError(f"the order could not be copied: {error.strerror or error}", todo) from error
    except ResetError:
        raise
    except MatError as error:
        raise ResetError(error.what.replace(f"{room / 'order'}/", ""), error.todo) from error
    finally:
        shutil.rmtree(room, ignore_errors=True)
