// The clock: how long the table has waited, what is left, and the tones near the end for those who want them.
// @ts-check
import { announce, by, fill, minutes, say, set, words } from "./judge_page.js";

const SOON_S = 10;
const TONES_S = [10, 5, 4, 3, 2, 1, 0];

/** @type {AudioContext | null} */
let sound = null;

/** Sound a tone; nothing before somebody switched the sound on by a touch. */
function tone(/** @type {number} */ hertz, /** @type {number} */ seconds) {
  if (!sound) return;
  const [oscillator, gain, t] = [sound.createOscillator(), sound.createGain(), sound.currentTime];
  oscillator.frequency.value = hertz;
  gain.gain.setValueAtTime(0.25, t);
  gain.gain.exponentialRampToValueAtTime(0.001, t + seconds);
  oscillator.connect(gain).connect(sound.destination);
  oscillator.start(t);
  oscillator.stop(t + seconds);
}

/** Make the sound's switch work. */
export function sounds() {
  const button = by("sound");
  button.addEventListener("click", async () => {
    if (sound) {
      await sound.close();
      sound = null;
    } else {
      sound = new AudioContext();
      tone(880, 0.15);
    }
    set(button, "aria-pressed", String(sound !== null));
    say(button, sound ? words.sound_off : words.sound_on);
  });
}

/** Keeps the clock from the view's `since`, `limit`, `stood`, `ends` and `ends_stood`, seconds on the table's clock. */
export class Clock {
  constructor() {
    this.before = Infinity;
    this.since = NaN;
  }

  tick(/** @type {any} */ view, /** @type {number} */ now) {
    const [place, told] = [by("clock"), by("clock-told")];
    const waits = !["over", "halted"].includes(view.phase) && view.since > 0;
    const waited = Math.max(0, (view.stood ?? now) - view.since);
    const left = waits && view.limit !== null ? view.limit - waited : null;
    const game = view.ends === null || view.phase === "over" ? null : view.ends - (view.ends_stood ?? now);
    const parts = [];
    if (view.paused !== null) parts.push(words.stopped);
    else if (left !== null && left <= 0) parts.push(words.out_of_time);
    else if (left !== null && left <= SOON_S) parts.push(words.soon);
    if (left !== null && left > 0) parts.push(fill(words.left, { time: minutes(left) }));
    if (left === null && waits) parts.push(fill(words.waiting_for, { time: minutes(waited) }));
    if (game !== null) parts.push(fill(words.game_left, { time: minutes(game) }));
    const near = [left, game].filter((one) => one !== null && one <= SOON_S);
    const out = near.some((one) => one !== null && one <= 0);
    const value = view.paused !== null ? "stopped" : out ? "out" : near.length ? "soon" : "";
    say(told, parts.join(" · "));
    if (place.dataset.value !== value) {
      place.dataset.value = value;
      if (value === "soon" || value === "out") announce(value === "soon" ? words.soon : words.out_of_time);
    }
    if (this.since !== view.since) [this.since, this.before] = [view.since, Infinity];
    const end = near.length && view.stood === null ? Math.min(.../** @type {number[]} */ (near)) : Infinity;
    const passed = TONES_S.find((at) => end <= at && this.before > at);
    if (passed !== undefined && this.before !== Infinity) tone(passed === 0 ? 440 : 880, passed === 0 ? 0.8 : 0.15);
    this.before = view.stood === null ? Math.min(...[left, game].map((one) => one ?? Infinity)) : this.before;
  }
}
