// Asks the server and sends to it. Without an answer in time a request is given up, so that an old touch never acts late.
// @ts-check

const ANSWER_MS = 5_000;
const noAnswer = document.querySelector("meta[name=no-answer]")?.getAttribute("content") ?? "";

/** @typedef {{ code: string, message: string, hint?: string, issues?: Record<string, string>, wait_s?: number }} Refusal */

const capitalise = (/** @type {string} */ text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** Return a refusal as a sentence, or two. */
export function sentence(/** @type {Refusal} */ { message, hint = "" }) {
  return [message, hint].filter(Boolean).map((part) => (/[.!?]$/.test(part) ? capitalise(part) : `${capitalise(part)}.`)).join(" ");
}

/** Return a unique key, with which a repeated command counts once; `randomUUID` is not available on a page without TLS. */
export function freshKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Get `path`, or post `content` to it: a file as it is, anything else as JSON. Return the answer; `error` if it is refused
 * or, with the code "away", did not come.
 * @returns {Promise<any>}
 */
export async function ask(/** @type {string} */ path, /** @type {unknown} */ content = undefined, type = "application/json") {
  const body = /** @type {BodyInit} */ (content instanceof Blob ? content : JSON.stringify(content));
  const how = content === undefined ? {} : { method: "POST", headers: { "content-type": type }, body };
  try {
    const answer = await fetch(path, { ...how, signal: AbortSignal.timeout(ANSWER_MS) });
    return await answer.json();
  } catch {
    return { error: { code: "away", message: noAnswer } };
  }
}
