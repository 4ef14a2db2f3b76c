// Updates a page of the hub: each event has the HTML of the parts.
// @ts-check
import { noteDrawn } from "./drawn.js";
import { follow } from "./stream.js";

/** The newest HTML of each part: one that cannot be redrawn now waits for it.
 * @type {Map<HTMLElement, string>} */
const newest = new Map();
/** The HTML of each part as it was loaded: a first update that is the same need not replace it.
 * @type {Map<Element, string>} */
const loaded = new Map([...document.querySelectorAll("[data-region]")].map((part) => [part, part.innerHTML]));
/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field */

/** A form, or a row with a field beside its buttons. */
const FORM = "form, [data-row]";
let pressed = false; // while a button is pressed, buttons do not move

/** Return the key of a folded part: its summary without numbers. */
const named = (/** @type {HTMLDetailsElement} */ one) => one.querySelector("summary")?.textContent?.replace(/\d+/g, "");

/** Return whether the value of a field differs from its initial one. */
function isTyped(/** @type {Field} */ one) {
  return !(one instanceof HTMLSelectElement) && !["checkbox", "radio"].includes(one.type) && one.value !== one.defaultValue;
}

/** Return whether `form` has input that was not sent yet. */
export function isTouched(/** @type {HTMLElement} */ form) {
  const fields = /** @type {NodeListOf<Field>} */ (form.querySelectorAll("input, select, textarea"));
  return Boolean(form.dataset.touched) || [...fields].some(isTyped);
}

/** Return the key of a form in newer HTML: its decision, its match, and its fields. */
function formKey(/** @type {HTMLElement} */ form) {
  const { touched, ...rest } = form.dataset;
  return JSON.stringify([rest, [...form.querySelectorAll("input, select, textarea")].map((field) => field.getAttribute("name"))]);
}

/** Return the key of a field or button in newer HTML. */
function fieldKey(/** @type {Element | null} */ one) {
  const form = /** @type {HTMLElement | null} */ (one?.closest(FORM) ?? null);
  return JSON.stringify([one?.getAttribute("name"), form && formKey(form), one instanceof HTMLButtonElement && [one.dataset, one.textContent]]);
}

/** Return the forms in `place` with input. */
const touchedForms = (/** @type {HTMLElement} */ place) => [.../** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll(FORM))].filter(isTouched);

/** Show `html` in a part. A form with input is kept; the part waits while that form
 * has the focus or is not in `html`, while a list is open, and while a button waits for a second touch. */
function put(/** @type {HTMLElement} */ part, /** @type {string} */ html) {
  if (part.dataset.html === html || part.querySelector("[data-asked]") || (pressed && part.querySelector(":active"))) return;
  const at = part.contains(document.activeElement) ? document.activeElement : null;
  const touched = touchedForms(part);
  if (at instanceof HTMLSelectElement || touched.some((form) => form.contains(at))) return;
  const fresh = document.createElement("template");
  fresh.innerHTML = html; // the server has escaped every text in it
  const same = fresh.innerHTML === loaded.get(part);
  loaded.delete(part);
  if (same) return void (part.dataset.html = html);
  const places = new Map([.../** @type {NodeListOf<HTMLElement>} */ (fresh.content.querySelectorAll(FORM))].map((form) => [formKey(form), form]));
  if (touched.some((form) => !places.has(formKey(form)))) return;
  for (const form of touched) places.get(formKey(form))?.replaceWith(form);
  const open = new Map([...part.querySelectorAll("details")].map((one) => [named(one), one.open]));
  part.replaceChildren(fresh.content);
  part.dataset.html = html;
  part.querySelectorAll("details").forEach((one) => (one.open = open.get(named(one)) ?? one.open));
  if (at) /** @type {HTMLElement | undefined} */ ([...part.querySelectorAll("input, textarea, button")].find((one) => fieldKey(one) === fieldKey(at)))?.focus({ preventScroll: true });
  tick();
}

/** Redraw every part that waited. */
export const redraw = () => newest.forEach((html, part) => put(part, html));

/** Drop the input of a form and redraw it with its part. */
export function release(/** @type {HTMLElement} */ form) {
  if (form instanceof HTMLFormElement) form.reset();
  delete form.dataset.touched;
  redraw();
}

/** Drop the input of a form that newer HTML no longer has. */
export function releaseIfGone(/** @type {HTMLElement} */ form) {
  const part = /** @type {HTMLElement | null} */ (form.closest("[data-region]"));
  const fresh = document.createElement("template");
  fresh.innerHTML = (part && newest.get(part)) ?? "";
  const keys = [.../** @type {NodeListOf<HTMLElement>} */ (fresh.content.querySelectorAll(FORM))].map(formKey);
  if (part && newest.has(part) && !keys.includes(formKey(form))) release(form);
}

addEventListener("input", (event) => {
  const field = /** @type {Field} */ (event.target);
  const form = /** @type {HTMLElement | null} */ (field.closest(FORM));
  if (form && (field instanceof HTMLSelectElement || !isTextField(field))) form.dataset.touched = "yes";
});
addEventListener("reset", (event) => {
  delete (/** @type {HTMLElement} */ (event.target).dataset.touched);
});
addEventListener("pointerdown", () => (pressed = true));
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(() => (pressed = false)));

/** Return whether a field takes text, whose change can be detected from its value. */
const isTextField = (/** @type {Field} */ one) => !["checkbox", "radio", "file"].includes(one.type);

let ahead = 0; // how far the hub's clock is ahead of this one, ms

/** Show the time left on each running clock. */
function tick() {
  for (const one of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-ends]"))) {
    const left = Math.max(0, Math.ceil(Number(one.dataset.ends) - (Date.now() + ahead) / 1000));
    one.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    one.dataset.over = left ? "" : "yes";
  }
}

/** Whether the stream stays open while the page is hidden: a team's page that rings does. */
export const staying = { on: false };

follow(
  document.body.dataset.events ?? "/events",
  {
    regions(data, id) {
      const news = JSON.parse(data);
      for (const part of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-region]"))) {
        const html = news[part.dataset.region ?? ""];
        if (html === undefined) continue;
        newest.set(part, html);
        put(part, html);
      }
      noteDrawn(id);
    },
    now(data) {
      ahead = Number(data) * 1000 - Date.now();
      tick();
    },
  },
  { stays: () => staying.on },
);
setInterval(() => {
  redraw();
  tick();
}, 500);
