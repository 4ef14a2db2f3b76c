// The staff page: sends what is touched, shows the page anew when it is done, and makes room when nobody is there.
// @ts-check
import { noteDrawn } from "./drawn.js";
import { goBack } from "./go_back.js";
import "./here.js";
import { ask, sentence } from "./request.js";

const problem = /** @type {HTMLElement} */ (document.getElementById("problem"));

/** Send `content`; whether it was taken. What was refused is told; who is not signed in any more is sent to `home`. */
async function send(/** @type {string} */ path, /** @type {object} */ content, home = "/staff") {
  problem.textContent = "";
  const { error } = await ask(path, content);
  if (!error) return true;
  const { code, issues = {} } = error;
  for (const field of document.querySelectorAll(".field")) {
    const issue = issues[field.getAttribute("data-key") ?? ""] ?? "";
    /** @type {HTMLElement} */ (field.querySelector(".issue")).textContent = issue;
    if (issue) field.querySelector("input, textarea")?.setAttribute("aria-invalid", "true");
    else field.querySelector("input, textarea")?.removeAttribute("aria-invalid");
  }
  /** @type {HTMLElement | null} */ (document.querySelector("[aria-invalid]"))?.focus();
  if (code === "signed_out") location.replace(home);
  else problem.textContent = sentence(error);
  return false;
}

const signOut = () => send("/staff/sign-out", {}, "/");
document.getElementById("out")?.addEventListener("click", async () => (await signOut()) && location.replace("/"));
for (const button of document.querySelectorAll(".staff [data-do], .bar [data-do]")) {
  button.addEventListener("click", async () => {
    const { do: what, notice = "" } = /** @type {HTMLElement} */ (button).dataset;
    if (await send("/staff/do", what === "notice" ? { do: what, notice } : { do: what })) location.reload();
  });
}
document.getElementById("own")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const notice = /** @type {HTMLInputElement} */ (document.getElementById("notice")).value;
  if (notice.trim() && (await send("/staff/do", { do: "notice", notice }))) location.reload();
});
const now = /** @type {HTMLInputElement | null} */ (document.getElementById("now"));
if (now && now.value === now.defaultValue) {
  // a phone knows the time; on the machine's own screen it is the machine's
  const here = new Date();
  now.value = new Date(here.getTime() - here.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}
document.getElementById("clock")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (now?.value && (await send("/staff/do", { do: "clock", now: now.value }))) location.reload();
});
document.getElementById("texts")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const fields = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#texts .field")]);
  const control = (/** @type {HTMLElement} */ field) => /** @type {HTMLInputElement} */ (field.querySelector("input, textarea"));
  const changed = fields.filter((field) => control(field).value !== control(field).defaultValue); // others edit the rest
  const texts = Object.fromEntries(changed.map((field) => [field.dataset.key, control(field).value]));
  if (await send("/staff/setup/texts", { texts })) location.assign("/staff/preview/about");
});
goBack(Number(document.body.dataset.back), signOut);
noteDrawn(document.body.dataset.update ?? 0);
