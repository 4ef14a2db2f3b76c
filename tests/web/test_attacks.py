"""The guessing and the fuzzing, small: `wrong_pins.py` and `fuzz_requests.py` do it as often as one likes."""

import pytest
from fuzz_requests import fuzz, request, table
from judge_house import House
from wrong_pins import patience, rush

from pi_controller.web import accounts


@pytest.fixture
def house(tmp_path):
    house = House(tmp_path)
    yield house
    house.close()


def test_malformed_requests(house):
    found = fuzz(house, 300, seed=7, workers=4)
    assert found.wrong == []
    assert found.answers.total() == 300
    assert {status for _, status in found.answers} >= {"200", "400", "401", "404", "405"}
    assert len(table(found.answers).splitlines()) == len({kind for kind, _ in found.answers}) + 2


def test_a_request_hangs_on_its_number_alone():
    assert request(1, 5, 80) == request(1, 5, 80) != request(2, 5, 80)


def test_a_rush_of_wrong_pins(house):
    found = rush(house, 120, 4)
    assert found.answers.total() == 120
    assert set(found.answers) <= {401, 429}
    assert found.looked_at <= 4 * accounts.FREE_TRIES_PER_PLACE + 2
    assert found.counts <= 4 * 6 + 4
    assert all(tries <= 3 for _, tries in found.new)
    assert found.known


def test_patient_guessing_takes_long(house):
    found = patience(house, 60, 3)
    assert found.looked_at == 60
    assert found.took > 3600
