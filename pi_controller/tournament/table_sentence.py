"""A sentence about a table: text with the table's account, and the same with its display name."""

from __future__ import annotations

from collections.abc import Callable

from pi_controller.errors import MatError
from pi_controller.text import strip_controls

MAX_VALUE_CHARS = 300


class TableSentence(str):
    """Text from a `template` with `{table}`, the account of a table, and `values`; those that are text are shortened.

    >>> sentence = TableSentence("{match} is at {table}", "t01", match="W1-1")
    >>> sentence, sentence.with_name(lambda table: "Table by the door")
    ('W1-1 is at t01', 'W1-1 is at Table by the door')
    """

    __slots__ = ("_template", "_values", "table")
    _values: dict[str, object]
    _template: str
    table: str

    def __new__(cls, template: str, table: str, **values: object) -> TableSentence:
        """Return the sentence. Raises `KeyError` if a value of the template is missing."""
        made = {name: value if isinstance(value, TableSentence) else _clean(value) for name, value in values.items()}
        self = super().__new__(cls, template.format(table=table, **made))
        self.table, self._template, self._values = table, template, made
        return self

    def with_name(self, name: Callable[[str], str]) -> str:
        """Return the sentence with `name` of its table, and of the tables in sentences inside it."""
        values = {
            key: value.with_name(name) if isinstance(value, TableSentence) else value
            for key, value in self._values.items()
        }
        return self._template.format(table=name(self.table), **values)


def describe_refusal(error: MatError) -> str:
    """Return the message of `error`: a `TableSentence` if it has a value `table`, the account of a table."""
    values = dict(error.values)
    table = values.pop("table", None)
    return error.message if table is None else TableSentence(error.sentences[0], str(table), **values)


def _clean(value: object) -> object:
    return strip_controls(value)[:MAX_VALUE_CHARS] if isinstance(value, str) else value
