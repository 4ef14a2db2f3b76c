"""What `mat check --noise` says."""

import numpy as np

from pi_controller.board.messages import Piezo
from pi_controller.calibration.detectors import Detectors
from pi_controller.calibration.sensor_listener import SensorListener
from pi_controller.sensing.strikes import StrikeSettings


def test_doctor_describes_pad_noise_and_common_share():
    ears = SensorListener(Detectors(StrikeSettings()), noise=True)
    samples = np.random.default_rng(1).normal(0.0, 20.0, (6000, 4)).astype(np.int16)
    for at in range(0, 6000, 500):
        ears.take([Piezo(at / 4000, at, 4000.0, samples[at : at + 500])])
    *pads, common = ears.noise_lines()
    assert [str(line.name) for line in pads] == [f"noise of pad {pad}" for pad in (1, 2, 3, 4)]
    assert str(common.name) == "noise in common"
    assert {line.outcome for line in (*pads, common)} == {"pass"}
