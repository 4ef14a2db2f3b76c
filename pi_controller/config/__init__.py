r"""The settings of a table: their model, the TOML file they are read from, and a commented example of it.

`read_settings` returns a file as `Settings`; a key that the file does not name keeps its default. Relative paths are
relative to the folder of the file.

>>> import tempfile
>>> from pathlib import Path
>>> from pi_controller.config import Settings, SettingsIssue, format_example, format_settings, read_settings
>>> from pi_controller.errors import SettingsError
>>> folder = tempfile.TemporaryDirectory()
>>> path = Path(folder.name) / "table.toml"
>>> path.write_text('[game]\nname = "slahal"\n[teams]\na = "Big Coulee"\n') > 0
True
>>> settings = read_settings(path)
>>> settings.teams.a, Settings().teams.a
('Big Coulee', 'A')
>>> settings.table.journal == path.parent / "table.sqlite"
True
>>> 'b = "B"  # default' in format_settings(settings)
True

`SettingsError` reports every fault at once, with its line:

>>> path.write_text('[web]\nport = "x"\nprot = 1\n') > 0
True
>>> try:
...     read_settings(path)
... except SettingsError as error:
...     print(error.message.replace(f"{path.parent}/", ""))
table.toml:2: [web] port: must be a whole number from 0 to 65535, not 'x'
table.toml:3: [web] prot: there is no such key; did you mean port?

Sections can also contradict each other:

>>> Settings.model_validate({"board_b": {"port": "/dev/ttyACM1"}}).find_conflicts()
[SettingsIssue(keys=('board_b', 'port'), text='is used only if [mat] seats = "each"')]
>>> SettingsIssue(("web", "port"), "is taken").keys
('web', 'port')

The example has every key with its default; `moccasin-mat settings example` prints it:

>>> path.write_text(format_example()) > 0
True
>>> read_settings(path) == Settings().resolve_paths(path.parent)
True
>>> folder.cleanup()
"""

from typing import TYPE_CHECKING

from pi_controller.lazy import lazy_getattr

if TYPE_CHECKING:
    from pi_controller.config.example import format_example, format_settings
    from pi_controller.config.fields import SettingsIssue
    from pi_controller.config.load import read_settings
    from pi_controller.config.model import Settings
else:
    __getattr__ = lazy_getattr(  # pydantic
        __name__,
        {
            "Settings": "model",
            "SettingsIssue": "fields",
            "format_example": "example",
            "format_settings": "example",
            "read_settings": "load",
        },
    )

__all__ = ["Settings", "SettingsIssue", "format_example", "format_settings", "read_settings"]
