"""How the mat board is wired, and how often it looks: pins, addresses and rates, those of `hardware/pinmap.toml`."""

ADC_PINS = (26, 27, 28, 29)
SAMPLE_HZ = 4000
BLOCK = 32
PADS = 4
SDA = 4
SCL = 5
I2C_HZ = 400000
MPR121 = 0x5A
MUXES = (0x70, 0x71, 0x72)
QMC5883L = 0x0D
QMC5883P = 0x2C
TOUCH_HZ = 50
MAGNET_HZ = 20
BIAS_PIN = 3
STRIP_PIN = 6
PIXELS = 69
