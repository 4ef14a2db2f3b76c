// The announcer's page: one call at a time; remembers on this device which were announced.
// @ts-check
import "./boards.js";

const KEY = "announced";
const KEPT = 200; // calls
const part = /** @type {HTMLElement} */ (document.querySelector("[data-region=announcer]"));

/** Return the calls announced, by match and time; none where the browser keeps nothing. */
function load() {
  try {
    return /** @type {string[]} */ (JSON.parse(localStorage.getItem(KEY) ?? "[]"));
  } catch {
    return [];
  }
}

const announced = new Set(load());

/** Show the first call that was not announced, those that were, and how many wait. */
function show() {
  let waiting = -1;
  for (const one of /** @type {NodeListOf<HTMLElement>} */ (part.querySelectorAll("[data-call]"))) {
    const done = announced.has(one.dataset.call ?? "");
    const button = /** @type {HTMLButtonElement} */ (one.querySelector("button"));
    button.hidden = false;
    button.setAttribute("aria-pressed", String(done));
    one.dataset.done = done ? "yes" : "";
    if (!done) waiting += 1;
    one.dataset.waits = !done && waiting > 0 ? "yes" : "";
  }
  const more = /** @type {HTMLElement | null} */ (part.querySelector("[data-more]"));
  if (!more) return;
  more.hidden = waiting < 1;
  more.textContent = (more.dataset.more ?? "").replace("{n}", String(waiting));
}

part.addEventListener("click", (event) => {
  const call = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("button")?.closest("[data-call]") ?? null)?.dataset.call;
  if (call === undefined) return;
  if (!announced.delete(call)) announced.add(call);
  try {
    localStorage.setItem(KEY, JSON.stringify([...announced].slice(-KEPT)));
  } catch {
    // a private window may keep nothing: the marks last as long as the page
  }
  show();
});
document.addEventListener("drawn", show);
show();
