"""config.txt: what each model needs, what counts as being there, and a block that is ours alone."""

import pytest

from pi_controller.card import boot_config

PI3, PI4 = "Raspberry Pi 3 Model B Plus Rev 1.3", "Raspberry Pi 4 Model B Rev 1.4"
ZERO, PI5 = "Raspberry Pi Zero 2 W Rev 1.0", "Raspberry Pi 5 Model B Rev 1.0"


@pytest.mark.parametrize(
    ("model", "core"), [(PI3, "core_freq=250"), (ZERO, "core_freq=250"), (PI4, "core_freq=500"), (PI5, None)]
)
def test_strips_fix_core_freq_before_pi_5(model, core):
    lines = boot_config.required_lines(model, strips=True)
    assert "dtparam=spi=on" in lines
    assert next((line for line in lines if line.startswith("core_freq=")), None) == core


def test_undriven_strips_and_pins_need_no_lines():
    assert boot_config.required_lines(PI4, strips=False) == boot_config.required_lines("", strips=True, pins=True) == ()
    assert boot_config.required_lines(PI5, strips=False, pins=True) == ("dtparam=spi=on", "dtparam=i2c_arm=on")
    assert boot_config.required_lines(PI5, strips=True, pins=True) == ("dtparam=spi=on", "dtparam=i2c_arm=on")


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("", True),
        ("core_freq=250\n", False),
        ("core_freq = 250\r\n", False),
        ("#core_freq=250\n", True),
        ("[pi3]\ncore_freq=250\n", False),
        ("[pi4]\ncore_freq=250\n", True),
        ("[pi4]\n[all]\ncore_freq=250\n", False),
        ("core_freq=250\ncore_freq=400\n", True),
    ],
)
def test_config_line_counts_in_matching_model_section(text, missing):
    assert boot_config.missing_lines(text, PI3, ["core_freq=250"]) == (["core_freq=250"] if missing else [])


def test_parameters_of_other_things_are_other_lines():
    text = "dtparam=audio=on\ndtparam=spi=off\n"
    assert boot_config.missing_lines(text, PI5, ["dtparam=spi=on"]) == ["dtparam=spi=on"]
    assert boot_config.missing_lines(text + "dtparam=spi=on\n", PI5, ["dtparam=spi=on"]) == []


def test_config_block_covers_all_models_once():
    text = boot_config.with_block("[pi4]\narm_boost=1\n", ["dtparam=spi=on"])
    assert boot_config.block(text).splitlines()[1:3] == ["[all]", "dtparam=spi=on"]
    again = boot_config.with_block(text, ["dtparam=spi=on", "enable_uart=1"])
    assert again.count(boot_config.BEGIN) == 1
    assert boot_config.without_block(again) == "[pi4]\narm_boost=1\n"
