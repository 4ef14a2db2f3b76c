// Shared by the console's scripts: the page's texts, creating and filling elements, and announcements.
// @ts-check

/** @type {Record<string, string>} */
export const words = JSON.parse(document.body.dataset.words ?? "{}");

/** Return the element with this `id`, which the page must have. */
export function by(/** @type {string} */ id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** Set the text of `element` if it differs, so that it is not announced twice. */
export function say(/** @type {Element} */ element, /** @type {string} */ text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Set an attribute if it differs. */
export function set(/** @type {Element} */ element, /** @type {string} */ name, /** @type {string} */ value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/**
 * Create an element with attributes and content.
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

/** Announce a text to screen readers. */
export function announce(/** @type {string} */ text) {
  if (said) said.textContent = text;
}

/** Return seconds as minutes and seconds. */
export function minutes(/** @type {number} */ seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
