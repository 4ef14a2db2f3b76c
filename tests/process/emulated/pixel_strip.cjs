// A strip of WS2812 on a pin: bits by how long the wire is high, a frame when it has been low long enough.
'use strict';

const ONE_NS = 600; // high for longer is a 1
const LATCH_NS = 50_000;
const KEPT = 100;
const RANGES_NS = [[200, 500], [580, 1000]]; // what a WS2812B takes for a 0 and for a 1

class PixelStrip {
  constructor(board, pin) {
    this.board = board;
    this.pin = pin;
    this.frames = []; // {us, bits, pixels: [[red, green, blue]]}
    this.odd = 0; // pulses that are neither
    this.bits = [];
    this.rise = this.fall = 0;
  }

  connect(chip) {
    chip.gpio[this.pin].addListener((state) => {
      const now = this.board.nanos;
      if (state === 1) {
        if (now - this.fall > LATCH_NS) this.latch();
        this.rise = now;
      } else if (state === 0 && this.rise) {
        const high = now - this.rise;
        if (!RANGES_NS.some(([least, most]) => least <= high && high <= most)) this.odd++;
        this.bits.push(high > ONE_NS ? 1 : 0);
        this.fall = now;
      }
    });
  }

  latch() {
    if (!this.bits.length) return;
    const bytes = [];
    for (let i = 0; i + 8 <= this.bits.length; i += 8) bytes.push(parseInt(this.bits.slice(i, i + 8).join(''), 2));
    const pixels = [];
    for (let i = 0; i + 3 <= bytes.length; i += 3) pixels.push([bytes[i + 1], bytes[i], bytes[i + 2]]); // green leaves first
    this.frames.push({ us: Math.round(this.fall / 1000), bits: this.bits.length, pixels });
    if (this.frames.length > KEPT) this.frames.shift();
    this.bits = [];
  }

  shown() {
    if (this.board.nanos - this.fall > LATCH_NS) this.latch();
    return this.frames;
  }
}

module.exports = { PixelStrip };
