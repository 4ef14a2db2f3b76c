// The page of a team: rings, vibrates and keeps the screen on, once a user has switched that on.
// @ts-check
import { staying } from "./boards.js";
import { switchSound, tone } from "./tones.js";

const RINGS = 3;
const RING_S = 1.2;
const VIBRATE_MS = [400, 200, 400, 200, 800];

const button = /** @type {HTMLButtonElement} */ (document.getElementById("ring"));
const part = /** @type {HTMLElement} */ (document.querySelector("[data-region=team]"));
/** @type {WakeLockSentinel | null | undefined} */
let lock = null;

/** Return the current call of the team, "" if there is none. */
const currentCall = () => /** @type {HTMLElement | null} */ (part.querySelector("[data-call]"))?.dataset.call ?? "";
let known = currentCall();

/** Ask the browser to keep the screen on. It may have no such function, or refuse: with a low battery, say. */
async function stayAwake() {
  try {
    lock = await navigator.wakeLock?.request("screen");
    if (!staying.on) await lock?.release(); // switched off meanwhile
  } catch {
    lock = null;
  }
}

/** Ring and vibrate for a new call of the team. */
function ring() {
  const call = currentCall();
  if (!call || call === known) return;
  known = call;
  if (!staying.on) return;
  for (let n = 0; n < RINGS; n++) {
    tone(659, 0.4, n * RING_S);
    tone(880, 0.7, n * RING_S + 0.4);
  }
  navigator.vibrate?.(VIBRATE_MS);
}

button.hidden = false;
button.addEventListener("click", async () => {
  button.disabled = true; // a second touch waits until the sound is switched
  staying.on = await switchSound();
  button.disabled = false;
  button.setAttribute("aria-pressed", String(staying.on));
  if (staying.on) await stayAwake();
  else await lock?.release();
});
// a browser ends the lock when another page is in front
document.addEventListener("visibilitychange", () => {
  if (staying.on && document.visibilityState === "visible") stayAwake();
});
document.addEventListener("drawn", ring);
