"""The guessing and the fuzzing, small: `wrong_pins.py` and `fuzz_requests.py` do it as often as one likes."""

import pytest
from judge_house import House
from load_file import load_file

from pi_controller.web import throttle

requests, pins = load_file("tests/tools/fuzz_requests.py"), load_file("tests/tools/wrong_pins.py")


@pytest.fixture
def house(tmp_path):
    house = House(tmp_path)
    yield house
    house.close()


def test_malformed_requests(house):
    found = requests.fuzz(house, 300, seed=7)
    assert found.wrong == []
    assert found.answers.total() == 300
    assert {status for _, status in found.answers} >= {"200", "400", "401", "404", "405"}
    assert len(requests.table(found.answers).splitlines()) == len({kind for kind, _ in found.answers}) + 2


def test_a_request_hangs_on_its_number_alone():
    assert requests.request(1, 5, 80) == requests.request(1, 5, 80) != requests.request(2, 5, 80)


def test_a_rush_of_wrong_pins(house):
    found = pins.rush(house, 120, 4)
    assert found.answers.total() == 120
    assert set(found.answers) <= {401, 429}
    assert found.looked_at <= len(pins.NAMES) * (throttle.FREE_TRIES + 4)
    assert found.counts <= 5 + 5 + 1 + 1
    assert all(tries <= 3 for tries in found.new)
    assert found.known


def test_patient_guessing_takes_long(house):
    found = pins.patience(house, 60, 3)
    assert found.looked_at == 60
    assert found.took > 3600
