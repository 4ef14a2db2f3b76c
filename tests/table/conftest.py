import msgspec
import pytest

from pi_controller.referee.facts import Fact


class Memory:
    """A journal without a disk, which keeps what a disk would: JSON."""

    def __init__(self):
        self.rows = []
        self.batch = 0

    seq = property(lambda self: len(self.rows))

    def append(self, facts):
        self.batch += 1
        self.rows += [(self.batch, msgspec.json.encode(fact)) for fact in facts]
        return self.batch

    def read(self):
        for batch, body in self.rows:
            yield batch, msgspec.json.decode(body, type=Fact)

    def opened(self):
        return next((fact for _, fact in self.read()), None)


@pytest.fixture(scope="session")
def memory_journal():
    return Memory
