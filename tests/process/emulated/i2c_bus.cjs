// I2C at its bit rate, with NAK, repeated start and stop as the RP2040 does them, and the lines themselves, which a chip
// may hold. Chips are in `chips.cjs`.
'use strict';

const BIT_NS = 2500; // 400 kHz
const BYTE_NS = 9 * BIT_NS;
const TX_EMPTY = 1 << 4;
const READ = 1;
const SIO = 5;

class I2cBus {
  constructor(board, { sda, scl }) {
    this.board = board;
    this.sda = sda;
    this.scl = scl;
    this.chips = new Map(); // address -> {write(bytes), begin(), read()}; one with `behind` is a multiplexer
    this.silent = new Set(); // addresses that do not answer
    this.stuckClocks = 0; // clocks until a chip lets SDA go
    this.transfers = 0;
    this.unanswered = 0;
    this.complaints = [];
  }

  hold(clocks) {
    this.stuckClocks = clocks;
    if (clocks) this.board.chip.gpio[this.sda].setInputValue(false);
  }

  find(address) {
    if (this.silent.has(address)) return null;
    if (this.chips.has(address)) return this.chips.get(address);
    const found = [];
    for (const [at, mux] of this.chips) if (mux.behind && !this.silent.has(at)) found.push(...mux.reached(address));
    if (found.length > 1) this.complaints.push(`${found.length} chips answer at once`);
    return found[0] || null;
  }

  connect(chip) {
    for (const controller of chip.i2c) this.connectController(chip.clock, controller);
    for (const pin of [this.sda, this.scl]) this.connectLine(chip, pin);
  }

  connectController(clock, controller) {
    let then = null, device = null, written = [];
    const alarm = clock.createAlarm(() => { const next = then; then = null; next(); });
    const after = (ns, next) => { then = next; alarm.schedule(ns); };
    const finish = () => { if (device && written.length) device.write(written); written = []; };
    const abort = controller.abort.bind(controller);
    controller.abort = (why) => { abort(why); controller.setInterrupts(TX_EMPTY); };
    const nextCommand = controller.nextCommand.bind(controller);
    controller.nextCommand = () => { // TX_EMPTY comes when the byte is out, not when it was taken (TX_EMPTY_CTRL)
      const threshold = controller.txThreshold;
      controller.txThreshold = -1;
      nextCommand();
      controller.txThreshold = threshold;
    };
    controller.onStart = (repeated) => { if (repeated) finish(); after(BIT_NS, () => controller.completeStart()); };
    controller.onConnect = (address, mode) => after(BYTE_NS, () => {
      this.transfers++;
      device = this.stuckClocks ? null : this.find(address);
      if (!device) this.unanswered++;
      else if (mode === READ && device.begin) device.begin();
      written = [];
      controller.completeConnect(!!device);
    });
    controller.onWriteByte = (value) => after(BYTE_NS, () => {
      written.push(value);
      if (controller.txFIFO.empty) controller.setInterrupts(TX_EMPTY);
      controller.completeWrite(true);
    });
    controller.onReadByte = () => after(BYTE_NS, () => controller.completeRead(device.read()));
    controller.onStop = () => { finish(); device = null; after(2 * BIT_NS, () => controller.completeStop()); };
  }

  connectLine(chip, pin) {
    const gpio = chip.gpio[pin], sda = chip.gpio[this.sda];
    gpio.rawInputValue = true; // pull-ups
    gpio.addListener((state) => {
      gpio.setInputValue(state !== 0);
      const clocked = state === 0 && pin === this.scl && gpio.functionSelect === SIO; // by hand, not by a transfer
      if (clocked && this.stuckClocks) this.stuckClocks--;
      if (this.stuckClocks) sda.setInputValue(false);
      else if (sda.value !== 0) sda.setInputValue(true);
    });
  }
}

module.exports = { I2cBus };
