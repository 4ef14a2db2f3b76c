// The converter's inputs: what each channel reads at a time, from samples that were given or a test signal.
'use strict';

const SAMPLE_US = 250;
const READINGS = 16; // of a sample
const SIGNALS = {
  // a pad's channel in the upper bits, so that pins that changed places show, over a ramp of one count a sample
  ramp: (channel, us) => (channel << 10) | (Math.floor(us / SAMPLE_US) & 0x3ff),
  noise: (channel, us) => 2048 + (((Math.floor(us / 62.5) * 2654435761) >>> 13) & 15) - 8,
};

const BIAS_TAU_US = [377, 1000, 1300, 1600]; // of each pad's level after its bias was switched: pad 1 has no disc

class Adc {
  constructor(board, biasPin) {
    this.board = board;
    this.biasPin = biasPin;
    this.read = SIGNALS.noise;
  }

  // share of the rest that a channel has, as its bias goes on and off
  level(channel) {
    const settled = Math.exp(-(this.board.us - this.switchedUs) / BIAS_TAU_US[channel]);
    return this.biasOn + (this.levels[channel] - this.biasOn) * settled;
  }

  value(channel) {
    const level = this.level(channel);
    return Math.round(level > 0.9999 ? this.read(channel, this.board.us) : this.read(channel, this.board.us) * level);
  }

  signal(name) { this.read = SIGNALS[name]; }

  // `samples`: u16 sums of 16 readings, four a sample, 4000 a second from board time `firstUs` on; the last is held
  play(firstUs, samples) {
    const last = samples.length / 4 - 1;
    this.read = (channel, us) => {
      const at = Math.floor((us - firstUs) / SAMPLE_US * READINGS);
      const n = Math.min(Math.max(Math.floor(at / READINGS), 0), last);
      return (samples[4 * n + channel] + (at & (READINGS - 1))) >> 4; // 16 in a row have that sum
    };
  }

  connect(chip) {
    const { board } = this;
    Object.defineProperty(chip.adc, 'activeChannel', { // rp2040js 1.4.1 never leaves channel 0 in round robin
      get() { return (this.cs >> 12) & 7; },
      set(channel) { this.cs = (this.cs & ~(7 << 12)) | ((channel & 7) << 12); },
    });
    this.biasOn = 1;
    this.levels = [1, 1, 1, 1];
    this.switchedUs = -1e9;
    chip.gpio[this.biasPin].addListener((state) => {
      if (state > 1) return; // not driven
      this.levels = this.levels.map((_, channel) => this.level(channel));
      this.biasOn = state;
      this.switchedUs = board.us;
    });
    const values = [];
    for (let i = 0; i < 5; i++) Object.defineProperty(values, i, { get: () => (i < 4 ? this.value(i) : 876) });
    chip.adc.channelValues = values;
  }
}

module.exports = { Adc };
