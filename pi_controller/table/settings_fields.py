"""Field types of the settings (names, ports, paths, pins), validated with errors in plain words."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Annotated, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from pi_controller.drivers.gpio import PINS
from pi_controller.games.wording import shown, unseen
from pi_controller.languages import is_code, is_file
from pi_controller.pads import each_once
from pi_controller.table.settings_file import Fault, faults


def _plain(text: str, what: str = "name") -> None:
    # line separators and direction overrides would let one name rearrange the rest of the board
    if any(map(unseen, text)):
        raise ValueError(f"a control character stands in this {what}")


def _name(text: str) -> str:
    _plain(text)
    if not text.strip() or len(text) > 40:
        raise ValueError(f"must be a name of 1 to 40 characters, not {shown(text)}")
    return text


def _words(text: str) -> str:
    _plain(text, "text")
    if len(text) > 300:
        raise ValueError(f"must be a text of up to 300 characters, not of {len(text)}")
    return text


def _address(text: str) -> str:
    if not text or re.fullmatch(r"(https?://)?([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?/?", text):
        return text
    raise ValueError(f'must be an address like "mat.example" or "http://mat.example:8080", not {shown(text)}')


def _number(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text)) if text else text
    except ValueError as error:
        raise ValueError(f'must be an address in numbers like "127.0.0.1", or empty, not {shown(text)}') from error


def _port(text: str) -> str:
    if text in {"auto", "none"} or (text.startswith("/") and text.isprintable()):
        return text
    raise ValueError(f'must be "auto", "none" or a path like "/dev/ttyACM0", not {shown(text)}')


def _port_or_pins(text: str) -> str:
    if text == "pins":
        return text
    try:
        return _port(text)
    except ValueError as error:
        raise ValueError(str(error).replace('"none"', '"none", "pins"', 1)) from error


def _profile(text: str) -> str:
    if not text or re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", text):
        return text
    raise ValueError(f"must be up to 40 letters, digits, - and _, not {shown(text)}")


def is_topic_name(text: str) -> bool:
    """Return whether `text` can name a venue or a table in an MQTT topic: 1 to 31 of a-z, 0-9, - and _."""
    return re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,30}", text) is not None


def _topic_name(text: str) -> str:
    if not text or is_topic_name(text):
        return text
    raise ValueError(f"must be up to 31 small letters, digits, - and _, not {shown(text)}")


def _host(text: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9.:_-]{1,253}", text):
        return text
    raise ValueError(f"must be an address or a host name, not {shown(text)}")


def _hosts(value: object) -> object:
    """Return the names as a tuple."""
    names = tuple(cast("list[object]", value)) if isinstance(value, list | tuple) else (None,)
    for name in names:
        if not isinstance(name, str):
            raise ValueError("must be a list of host names, each in quotes")  # noqa: TRY004
        _host(name)
    return names


def _language(text: str) -> str:
    if is_code(text) or is_file(text):
        return text
    raise ValueError(
        f"must be a language's code, such as en or dak, or its catalogue, such as /srv/dak.po, not {shown(text)}"
    )


def _path(value: object) -> object:
    if not isinstance(value, str | Path):
        raise ValueError(f"must be the path of a file, in quotes, not {shown(value)}")  # noqa: TRY004
    text = str(value)
    if not text.strip() or not text.isprintable() or text.endswith("/"):
        raise ValueError(f"must be the path of a file, not {shown(text)}")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise ValueError(f"there is no home folder for {shown(text)}") from error


def _folder(text: str) -> str:
    return str(_path(text)) if text else text


def _nearest(value: object) -> object:
    """Return the pads from the nearest on, as a tuple; each once."""
    pads = tuple(cast("list[object]", value)) if isinstance(value, list | tuple) else ("none",)
    if not each_once(pads):
        raise ValueError("must be a list of pads from 1 to 4, each once")
    return pads


def _options(value: object) -> object:
    """Return the options as text, the way the command line would write them."""
    if not isinstance(value, dict):
        return value
    found: list[Fault] = []
    texts: dict[str, str] = {}
    for key, given in cast("dict[str, object]", value).items():
        match given:
            case bool():
                texts[key] = "true" if given else "false"
            case str() | int() | float():
                texts[key] = str(given)
            case list() if all(isinstance(one, str) for one in cast("list[object]", given)):
                texts[key] = ",".join(cast("list[str]", given))
            case _:
                found.append(Fault((key,), f"must be text, a number, or true or false, not {shown(given)}"))
    if found:
        raise faults(found)
    return texts


def _pin(number: int) -> int:
    if number == 0 or number in PINS:
        return number
    raise ValueError(f"must be a BCM number from {PINS[0]} to {PINS[-1]}, or 0 for no button, not {number}")


Pin = Annotated[int, Field(ge=PINS[0], le=PINS[-1])]
PinOrNone = Annotated[
    int,
    AfterValidator(_pin),
    Field(json_schema_extra={"takes": f"0, or a whole number from {PINS[0]} to {PINS[-1]}"}),
]
Name = Annotated[str, AfterValidator(_name), Field(json_schema_extra={"takes": "a name of 1 to 40 characters"})]
Words = Annotated[str, AfterValidator(_words), Field(json_schema_extra={"takes": "a text of up to 300 characters"})]
Address = Annotated[
    str, AfterValidator(_address), Field(json_schema_extra={"takes": 'an address: "http://mat.example:8080"'})
]
Number = Annotated[
    str, AfterValidator(_number), Field(json_schema_extra={"takes": 'an address in numbers: "127.0.0.1"'})
]
Port = Annotated[str, AfterValidator(_port)]
PortOrPins = Annotated[str, AfterValidator(_port_or_pins)]
Profile = Annotated[str, AfterValidator(_profile)]
TopicName = Annotated[
    str, AfterValidator(_topic_name), Field(json_schema_extra={"takes": 'a short name: "t01", or empty'})
]
Host = Annotated[str, AfterValidator(_host)]
HostOrNone = Annotated[str, AfterValidator(lambda text: text and _host(text))]
Hosts = Annotated[tuple[str, ...], BeforeValidator(_hosts)]
Language = Annotated[str, AfterValidator(_language)]
FilePath = Annotated[Path, BeforeValidator(_path)]
Folder = Annotated[str, AfterValidator(_folder)]
Pads = Annotated[tuple[int, ...], BeforeValidator(_nearest)]
Options = Annotated[dict[str, str], BeforeValidator(_options)]


class Section(BaseModel):
    """What all sections share: no unknown key, no guessing of types, no change afterwards."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
