// The clock: time since the last entry, time left, and optional tones near the end.
// @ts-check
import { announce, by, fill, make, minutes, say, set, words } from "./judge_page.js";
import { switchSound, tone } from "./tones.js";

const SOON_S = 10;
const TONES_S = [10, 5, 4, 3, 2, 1, 0];

/** Initialise the sound switch. */
export function sounds() {
  const button = by("sound");
  button.addEventListener("click", async () => {
    const on = await switchSound();
    set(button, "aria-pressed", String(on));
    say(button, on ? words.sound_off : words.sound_on);
  });
}

/** Put `text` into `place` with its times in separate elements, which are larger. */
function show(/** @type {HTMLElement} */ place, /** @type {string} */ text) {
  if (place.textContent === text) return;
  const parts = text.split(/(\d+:\d\d)/);
  place.replaceChildren(...parts.filter(Boolean).map((part) => (/^\d+:\d\d$/.test(part) ? make("b", {}, part) : part)));
}

/** Runs the clock from the view's `since`, `limit`, `stood`, `ends` and `ends_stood`, seconds on the table's clock. */
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
    if (left !== null && left > 0) parts.unshift(fill(words.left, { time: minutes(left) }));
    if (game !== null) parts.push(fill(words.game_left, { time: minutes(game) }));
    place.hidden = !parts.length; // hide the clock if none runs
    say(by("entry"), left === null && waits && view.paused === null ? fill(words.waiting_for, { time: minutes(waited) }) : "");
    const near = [left, game].filter((one) => one !== null && one <= SOON_S);
    const out = near.some((one) => one !== null && one <= 0);
    const value = view.paused !== null ? "stopped" : out ? "out" : near.length ? "soon" : "";
    show(told, parts.join(" · "));
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
