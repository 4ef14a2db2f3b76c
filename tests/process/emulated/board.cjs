// An RP2040 with MicroPython on it, in emulated time. rp2040js emulates the chip; each part beside this file adds what it
// lacks, or does otherwise than the chip, and is connected anew to the chip of each start.
'use strict';
const fs = require('fs');
const { RP2040 } = require('rp2040js');
const fastCore = require('./fast_core.cjs');
const { Flash } = require('./flash.cjs');
const { Resets } = require('./resets.cjs');
const { UsbHost } = require('./usb_host.cjs');
const { Adc } = require('./adc.cjs');
const { I2cBus } = require('./i2c_bus.cjs');
const { PioTiming } = require('./pio_timing.cjs');
const { PixelStrip } = require('./pixel_strip.cjs');

const CPU_MHZ = 125;
const FLASH_BASE = 0x10000000;
const CACHE_LINES = 2048; // 16 kB, two ways of 8 bytes
const START_NS = 300_000; // boot ROM and start-up code, roughly; nothing depends on it

class Board {
  // options: uf2, bootrom: files; missCycles: what a miss of the flash cache costs, 0 for a cache that never misses;
  // pins: {strip, bias, sda, scl}
  constructor(options) {
    this.options = { missCycles: 60, ...options };
    this.cycleNanos = 1e3 / CPU_MHZ;
    this.bootrom = new Uint32Array(new Uint8Array(fs.readFileSync(options.bootrom)).buffer);
    this.beforeNanos = 0; // of all starts before this one
    this.instructions = 0;
    this.log = []; // [us, what happened]
    this.flash = new Flash(this, options.uf2);
    this.resets = new Resets(this);
    this.usb = new UsbHost(this);
    this.adc = new Adc(this, options.pins.bias);
    this.bus = new I2cBus(this, options.pins);
    this.strip = new PixelStrip(this, options.pins.strip);
    this.parts = [this.flash, this.resets, this.usb, this.adc, this.bus, new PioTiming(this), this.strip];
    this.start();
  }

  get nanos() { return this.beforeNanos + this.chip.clock.nanosCounter; }
  get us() { return this.nanos / 1000; }
  note(text) { this.log.push([Math.round(this.us), text]); }

  start() {
    const chip = (this.chip = new RP2040());
    const silent = () => {};
    chip.logger = { debug: silent, info: silent, warn: silent, error: (name, text) => this.note(`${name}: ${text}`) };
    chip.loadBootrom(this.bootrom);
    this.stalledNanos = 0; // the processor waits so long with interrupts off; the rest of the chip goes on
    this.hung = false; // the processor does nothing until the next reset
    this.resetting = false;
    for (const part of this.parts) part.connect(chip);
    chip.core.PC = FLASH_BASE;
    this.memory = {
      ram8: chip.sram, ram16: new Uint16Array(chip.sram.buffer), ram32: new Uint32Array(chip.sram.buffer),
      rom8: chip.flash, rom16: chip.flash16, rom32: new Uint32Array(chip.flash.buffer),
    };
    this.cacheTags = this.options.missCycles ? new Int32Array(CACHE_LINES).fill(-1) : null;
  }

  restart() {
    this.beforeNanos = this.nanos + START_NS;
    this.start();
  }

  run(us) {
    const end = this.nanos + us * 1000;
    while (this.nanos < end) {
      const { core, clock } = this.chip;
      const stop = end - this.beforeNanos;
      while (clock.nanosCounter < stop && !this.resetting) {
        if (this.stalledNanos) {
          const stalled = this.stalledNanos;
          this.stalledNanos = 0;
          clock.tick(stalled);
        } else if (this.hung || core.waiting) {
          const next = clock.nextAlarm ? Math.min(clock.nextAlarm.nanos, stop) : stop;
          clock.tick(Math.max(next - clock.nanosCounter, this.cycleNanos));
        } else fastCore.run(this, stop);
      }
      if (this.resetting) this.resets.apply();
    }
  }
}

module.exports = { Board, FLASH_BASE };
