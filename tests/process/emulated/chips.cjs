// The mat's chips on I2C, as their data sheets say: `write(bytes)` is one transfer, `begin()` and `read()` a read.
// `complaints` has what a data sheet forbids and was done.
'use strict';

const RESTART_US = { MPR121: 100, QMC5883L: 350, QMC5883P: 250 }; // after a reset, before registers may be written

class Registers {
  constructor(address, size, board, complaints) {
    Object.assign(this, { address, board, complaints, at: 0, registers: new Uint8Array(size) });
    this.reset();
  }

  reset() {
    this.registers.fill(0);
    this.resetUs = this.board.us;
  }

  write(bytes) {
    this.at = bytes[0];
    if (bytes.length > 1 && this.board.us - this.resetUs < RESTART_US[this.constructor.name]) {
      this.complain(`written ${Math.round(this.board.us - this.resetUs)} us after its reset`);
    }
    for (const value of bytes.slice(1)) this.set(this.at++, value);
  }

  set(at, value) { this.registers[at] = value; }
  get(at) { return this.registers[at]; }
  read() { return this.get(this.at++); }
  complain(text) { this.complaints.push(`${this.constructor.name}: ${text}`); }
}

class MPR121 extends Registers {
  constructor(address, board, complaints) {
    super(address, 256, board, complaints);
    this.counts = Array.from({ length: 12 }, (_, i) => 700 + i);
  }

  reset() {
    super.reset();
    this.registers[0x5c] = 0x10;
    this.registers[0x5d] = 0x24;
  }

  set(at, value) {
    if (at === 0x80) {
      if (value === 0x63) this.reset();
    } else if (at < 0x73 && at !== 0x5e && this.registers[0x5e] & 0x3f) {
      this.complain(`register ${at.toString(16)} written while it runs`);
    } else this.registers[at] = value;
    if (at === 0x5e && value & 15 && this.registers[0x7b] & 1) this.configure();
  }

  configure() { // as if each electrode had a picofarad more than the one before
    for (let i = 0; i < 12; i++) {
      this.registers[0x5f + i] = Math.round((50 + i) * this.counts[i] * 3.3 / 1024 / 4); // uA, for 4 us
      this.registers[0x6c + (i >> 1)] |= 4 << 4 * (i & 1);
    }
  }

  get(at) {
    if (at < 0x04 || at >= 0x1e) return this.registers[at];
    const electrode = (at - 4) >> 1, runs = (this.registers[0x5e] & 15) > electrode;
    const value = runs ? this.counts[electrode] & 0x3ff : 0;
    return at & 1 ? value >> 8 : value & 255;
  }
}

class Magnetometer extends Registers { // x, y, z in counts, and what is new since they were read
  constructor(address, board, complaints, counts) {
    super(address, 64, board, complaints);
    this.counts = counts;
  }

  reset() {
    super.reset();
    this.sinceUs = this.board.us;
    this.seen = -1;
  }

  begun() { this.sinceUs = this.board.us; this.seen = -1; }
  newest() { return this.measures() ? Math.floor((this.board.us - this.sinceUs) / this.periodUs()) - 1 : -1; }
  over() { return this.measures() && this.counts.some((count) => count < -32768 || count > 32767); }

  data(index) { // byte `index` of the six
    this.seen = this.newest();
    if (this.seen < 0) return 0;
    const word = Math.max(-32768, Math.min(32767, Math.round(this.counts[index >> 1]))) & 0xffff;
    return index & 1 ? word >> 8 : word & 255;
  }
}

class QMC5883L extends Magnetometer {
  reset() { super.reset(); this.registers[0x0d] = 0xff; }
  measures() { return (this.registers[0x09] & 3) === 1; }
  periodUs() { return [100000, 20000, 10000, 5000][(this.registers[0x09] >> 2) & 3]; }

  set(at, value) {
    if (at === 0x0a && value & 0x80) return this.reset();
    if (at === 0x09) this.begun();
    this.registers[at] = value;
  }

  get(at) {
    if (at < 6) return this.data(at);
    if (at !== 6) return this.registers[at];
    const newest = this.newest();
    return (newest > this.seen ? 1 : 0) | (this.over() ? 2 : 0) | (newest > this.seen + 1 ? 4 : 0);
  }
}

class QMC5883P extends Magnetometer {
  reset() { super.reset(); this.registers[0x00] = 0x80; }
  measures() { return (this.registers[0x0a] & 3) !== 0; }
  periodUs() { return [100000, 20000, 10000, 5000][(this.registers[0x0a] >> 2) & 3]; }

  set(at, value) {
    if (at === 0x0b && value & 0x80) return this.reset();
    if (at === 0x0a) this.begun();
    this.registers[at] = value;
  }

  get(at) {
    if (at >= 1 && at <= 6) return this.data(at - 1);
    if (at !== 9) return this.registers[at];
    return (this.newest() > this.seen ? 1 : 0) | (this.over() ? 2 : 0);
  }
}

class TCA9548A {
  constructor(address) {
    this.address = address;
    this.behind = [];
    this.reset();
  }

  reset() { this.open = 0; }
  write(bytes) { this.open = bytes[bytes.length - 1]; }
  read() { return this.open; }
  reached(address) { return this.behind.filter((chip, i) => (this.open >> i) & 1 && chip.present && chip.address === address); }
}

const MAGNETOMETERS = { QMC5883L: [QMC5883L, 0x0d], QMC5883P: [QMC5883P, 0x2c] };

// Puts an MPR121 and three multiplexers with eight magnetometers each on a board's bus, and returns them.
function wire(board, { touch, muxes, magnetometer }) {
  const { bus } = board;
  const [Kind, address] = MAGNETOMETERS[magnetometer];
  const strips = new MPR121(touch, board, bus.complaints);
  bus.chips.set(touch, strips);
  const magnetometers = [];
  for (const at of muxes) {
    const mux = new TCA9548A(at);
    for (let i = 0; i < 8; i++) {
      const n = magnetometers.length;
      const chip = new Kind(address, board, bus.complaints, [100 * n, -100 * n, 1000 + n]);
      chip.present = true;
      mux.behind.push(chip);
      magnetometers.push(chip);
    }
    bus.chips.set(at, mux);
  }
  return { strips, magnetometers };
}

module.exports = { wire };
