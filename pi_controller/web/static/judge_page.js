// What the console's scripts share: the page's words, making and filling elements, and saying things aloud.
// @ts-check

/** @type {Record<string, string>} */
export const words = JSON.parse(document.body.dataset.words ?? "{}");

/** Return the element that is in the page's HTML under `id`. */
export function by(/** @type {string} */ id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** Put `text` into `element` unless it says so already: nothing is announced twice. */
export function say(/** @type {Element} */ element, /** @type {string} */ text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Set an attribute unless it has that value. */
export function set(/** @type {Element} */ element, /** @type {string} */ name, /** @type {string} */ value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/**
 * Make an element with attributes and what is inside.
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} inside
 */
export function make(tag, attributes = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...inside);
  return element;
}

/** Return `text` with its `{places}` filled. */
export function fill(/** @type {string} */ text, /** @type {Record<string, unknown>} */ values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

const said = document.getElementById("said");

/** Tell those who cannot see the page. */
export function announce(/** @type {string} */ text) {
  if (said) said.textContent = text;
}

/** Return seconds as minutes and seconds. */
export function minutes(/** @type {number} */ seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
