// The director's console: sends what is touched. Nothing is shown as decided before the hub has it on its disk.
// @ts-check
import "./boards.js";

const SURE_MS = 4_000;
const said = /** @type {HTMLElement} */ (document.getElementById("said"));
const words = document.body.dataset;

/** Return a key that nobody else has: a command that is sent again counts once. */
function fresh() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Send `body` to `path`; return whether it was done. What was wrong is said. */
async function send(/** @type {string} */ path, /** @type {BodyInit} */ body, type = "application/json") {
  try {
    const answer = await fetch(path, { method: "POST", headers: { "content-type": type }, body });
    const told = await answer.json();
    if (answer.status === 401) location.reload();
    said.textContent = answer.ok ? (words.done ?? "") : [told.error.what, told.error.todo].filter(Boolean).join(": ");
    said.dataset.value = answer.ok ? "good" : "bad";
    return answer.ok;
  } catch {
    said.textContent = words.failed ?? "";
    said.dataset.value = "bad";
    return false;
  }
}

const command = (/** @type {object} */ fact) => send("/director/command", JSON.stringify({ key: fresh(), fact }));

/** Return whether the button was touched a second time; the first touch asks for that. */
function sure(/** @type {HTMLElement} */ button) {
  if (!button.dataset.sure || button.dataset.asked) return true;
  const text = button.textContent;
  button.dataset.asked = "yes";
  button.textContent = words.sure ?? "";
  setTimeout(() => {
    delete button.dataset.asked;
    button.textContent = text;
  }, SURE_MS);
  return false;
}

document.addEventListener("click", async (event) => {
  const button = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("button"));
  if (!button || button.closest("form")) return;
  if (button.id === "sign-out") {
    await send("/director/sign-out", "{}");
    return location.reload();
  }
  if (!sure(button)) return;
  if (button.dataset.send) await command(JSON.parse(button.dataset.send));
  if (button.dataset.undo) await send("/director/undo", JSON.stringify({ key: fresh() }));
});

/** Return what a form says, as the fact that it makes. */
function fact(/** @type {HTMLFormElement} */ form, /** @type {HTMLElement | null} */ by) {
  /** @type {Record<string, any>} */
  const found = { do: form.dataset.do };
  for (const [key, value] of new FormData(form)) if (value !== "" || key === "text") found[key] = String(value);
  if (by?.getAttribute("name")) found[by.getAttribute("name") ?? ""] = by.getAttribute("value");
  if (form.dataset.protest) found.protest = Number(form.dataset.protest);
  for (const key of ["best_of", "groups", "through"]) if (found[key]) found[key] = Number(found[key]);
  if (form.dataset.do === "plan") {
    const pairs = String(found.options ?? "").split(/[\s,]+/).filter(Boolean);
    found.options = Object.fromEntries(pairs.map((pair) => pair.split("=", 2)));
  }
  if (form.dataset.do === "enter") {
    const [name, ...players] = String(found.team).split(",").map((one) => one.trim());
    return { do: "enter", teams: [{ name, players: players.filter(Boolean) }] };
  }
  if (form.dataset.do === "appoint") return { do: "appoint", judges: [found.judge] };
  return found;
}

document.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = /** @type {HTMLFormElement} */ (event.target);
  const file = /** @type {HTMLInputElement | null} */ (form.querySelector("[type=file]"))?.files?.[0];
  const by = /** @type {HTMLElement | null} */ (/** @type {SubmitEvent} */ (event).submitter);
  const done = file && form.dataset.file ? await send(form.dataset.file, file, "text/csv") : await command(fact(form, by));
  if (done) form.reset();
  /** @type {HTMLElement | null} */ (document.activeElement)?.blur();
});
