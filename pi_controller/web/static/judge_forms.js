// The sections below the buttons for play, which the server renders: their forms and what their buttons send.
// @ts-check
import { announce, by, say, set, words } from "./judge_page.js";
import { all, isTouched, release, releaseIfGone } from "./regions.js";

/** @typedef {(call: any, from: HTMLElement, seen?: number) => void} Press */

const forms = (/** @type {ParentNode} */ place) => /** @type {HTMLFormElement[]} */ (all(place, "form"));
const isPressed = (/** @type {Element} */ pick) => pick.getAttribute("aria-pressed") === "true";

/** Return whether a group of choices or a field is filled in. */
const isFilled = (/** @type {HTMLElement} */ one) => (one.matches("[role=group]") ? [...one.children].some(isPressed) : Boolean(/** @type {HTMLInputElement} */ (one).value.trim()));

/** Return the fields of a form by name: what was chosen, and what was typed. */
function read(/** @type {HTMLFormElement} */ form) {
  const picked = all(form, ".pick").filter(isPressed).map((one) => /** @type {HTMLButtonElement} */ (one));
  const typed = /** @type {(HTMLInputElement | HTMLTextAreaElement)[]} */ (all(form, ":is(input, textarea)[name]"));
  return Object.fromEntries([...picked, ...typed].map((one) => [one.name, one.value.trim()]));
}

/** Return the score sheet with the values of the form. */
function readSheet(/** @type {HTMLFormElement} */ form) {
  const sheet = JSON.parse(form.dataset.sheet ?? "");
  for (const field of /** @type {(HTMLInputElement | HTMLSelectElement)[]} */ (all(form, "[data-path]"))) {
    const path = JSON.parse(field.dataset.path ?? "");
    const value = field instanceof HTMLSelectElement ? JSON.parse(field.value) : field.value === "" ? null : Number(field.value);
    const at = path.slice(0, -1).reduce((/** @type {any} */ part, /** @type {any} */ key) => part[key], sheet);
    at[path.at(-1)] = value;
  }
  return { sheet };
}

/** Send what a button says with the fields of its form; a field that must be filled in first is named. */
function send(/** @type {HTMLElement} */ button, /** @type {Press} */ press) {
  const call = JSON.parse(button.dataset.say ?? "");
  const form = button.closest("form");
  if (!form) return press(call, button);
  const missing = all(form, "[data-need]").find((one) => !isFilled(one));
  say(/** @type {Element} */ (form.querySelector(".problem")), missing?.dataset.need ?? "");
  if (missing) return missing.focus();
  const { sheet, revision } = form.dataset;
  press({ ...call, ...read(form), ...(sheet && readSheet(form)) }, button, revision ? Number(revision) : undefined); // it is refused if the game went on since the form was filled in
}

/** Let the buttons of the sections send their commands. */
export function listen(/** @type {Press} */ press) {
  document.addEventListener("click", ({ target }) => {
    const button = /** @type {HTMLElement | null} */ (/** @type {Element} */ (target).closest(".inside button"));
    const form = button?.closest("form");
    if (button?.dataset.say) send(button, press);
    else if (form && button?.matches(".pick")) {
      for (const one of button.parentElement?.children ?? []) set(one, "aria-pressed", String(one === button));
      form.dataset.touched = "yes";
    } else if (form && button?.matches("[data-fresh]")) {
      release(form);
      announce(words.set_fresh);
    }
  });
  document.addEventListener("reset", ({ target }) => {
    for (const one of all(/** @type {Element} */ (target), ".pick")) set(one, "aria-pressed", "false");
    const problem = /** @type {Element} */ (target).querySelector(".problem");
    if (problem) say(problem, "");
  });
  for (const section of all(document, "details:has(> .inside)"))
    section.addEventListener("toggle", () => /** @type {HTMLDetailsElement} */ (section).open || forms(section).forEach(release));
}

/** Drop the input of the form of `button` after it was sent. */
export function sent(/** @type {HTMLElement} */ button) {
  const form = button.closest("form");
  if (form) release(form);
}

/** Drop input for what is no longer possible: names, the end of the game, the score; a protest is written to its end. */
export function dropImpossible() {
  for (const id of ["teams", "closing", "set"]) forms(by(id)).filter(isTouched).forEach(releaseIfGone);
}
