// Tones by WebAudio, off until a user switches them on. They only repeat what the page shows.
// @ts-check

/** @type {AudioContext | null} */
let context = null;

/** Sound a tone, `after` seconds from now. */
export function tone(/** @type {number} */ hertz, /** @type {number} */ seconds, after = 0) {
  if (!context) return;
  const [oscillator, gain, t] = [context.createOscillator(), context.createGain(), context.currentTime + after];
  oscillator.frequency.value = hertz;
  gain.gain.setValueAtTime(0.25, t);
  gain.gain.exponentialRampToValueAtTime(0.001, t + seconds);
  oscillator.connect(gain).connect(context.destination);
  oscillator.start(t);
  oscillator.stop(t + seconds);
}

/** Switch the sound on, with a tone, or off; return whether it is on. */
export async function switchSound() {
  if (context) {
    await context.close();
    context = null;
  } else {
    context = new AudioContext();
    tone(880, 0.15);
  }
  return context !== null;
}

/** The tones of a change: [hertz, seconds, after]. */
const MOMENT = [[330, 0.12, 0]];
const ASKED = [[523, 0.2, 0], [659, 0.3, 0.2]];
const OVER = [[392, 0.3, 0], [523, 0.3, 0.25], [659, 0.6, 0.5]];

/** Make `button` switch the sound, and return a function that plays the tones of a change. */
export function sounds(/** @type {HTMLElement | null} */ button) {
  /** @type {import("./announce.js").News | null} */
  let before = null;
  if (button) button.hidden = false;
  button?.addEventListener("click", async () => button.setAttribute("aria-pressed", String(await switchSound())));
  return (/** @type {import("./announce.js").News} */ news) => {
    const was = before;
    before = news;
    if (!was) return;
    const heard = news.phase === "over" && was.phase !== "over" ? OVER : news.question && !was.question ? ASKED : news.moment !== was.moment ? MOMENT : [];
    for (const [hertz, seconds, after] of heard) tone(hertz, seconds, after);
  };
}
