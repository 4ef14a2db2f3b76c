"""Register addresses of the board's chip: an RP2040, or an RP2350A with the same four ADC pins. MicroPython >= 1.23.

Fields inside the registers of ADC and watchdog are the same on both, and MicroPython's `pack_ctrl` knows each chip's
DMA fields. The RP2350's addresses come from its data sheet; no such board has run this program yet.
"""

import os

RP2040 = {
    "ADC": 0x4004C000,  # RP2040 data sheet, 2.2 (address map); registers in 4.9
    "DREQ_ADC": 36,  # 2.5.3.1
    "WATCHDOG": 0x40058000,  # 4.7
    "CHIP_RESET": 0x40064008,  # 2.10: VREG_AND_CHIP_RESET
    "HAD_POWER": 1 << 8,  # power that came or sagged; not the RUN pin (bit 16) or a debugger (20)
}
RP2350 = {
    "ADC": 0x400A0000,  # RP2350 data sheet, 2.2 (address map); registers in 12.4
    "DREQ_ADC": 48,  # 12.6
    "WATCHDOG": 0x400D8000,  # 12.9
    "CHIP_RESET": 0x4010002C,  # 6.4: POWMAN
    "HAD_POWER": 1 << 16 | 1 << 17 | 1 << 26,  # power came, sagged, or had a glitch; not the RUN pin (18)
}
DMA = 0x50000000  # the same on both, 64 bytes a channel
MAX_DMA_COUNT = (1 << 28) - 1  # the four bits above it are a mode on the RP2350 (12.6)


def registers(machine):
    """Return the addresses for the chip that MicroPython names at the end of `machine`."""
    return RP2350 if "RP2350" in machine else RP2040


_ours = registers(os.uname().machine)
ADC = _ours["ADC"]
DREQ_ADC = _ours["DREQ_ADC"]
WATCHDOG = _ours["WATCHDOG"]
CHIP_RESET = _ours["CHIP_RESET"]
HAD_POWER = _ours["HAD_POWER"]
