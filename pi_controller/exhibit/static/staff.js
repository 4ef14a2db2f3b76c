// The staff page: sends what is touched, shows the page anew when it is done, and makes room when nobody is there.
// @ts-check
import { goBack } from "./go_back.js";
import { tellHere } from "./here.js";

const problem = /** @type {HTMLElement} */ (document.getElementById("problem"));

/** Send `content`; whether it was taken. What was refused is told. */
async function send(/** @type {string} */ path, /** @type {object} */ content) {
  problem.textContent = "";
  const answer = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(content),
  });
  if (!answer.ok && answer.status !== 401) {
    const { what, todo } = (await answer.json()).error;
    problem.textContent = [what, todo].filter(Boolean).join("; ");
    return false;
  }
  return true;
}

const signOut = () => send("/staff/sign-out", {});
document.getElementById("out")?.addEventListener("click", async () => (await signOut()) && location.replace("/"));
for (const button of document.querySelectorAll(".staff [data-do]")) {
  button.addEventListener("click", async () => {
    const { do: what, notice = "", mark = "" } = /** @type {HTMLElement} */ (button).dataset;
    const content = { do: what, notice, ...(mark && { mark }) };
    if (await send("/staff/do", content)) location.reload();
  });
}
document.getElementById("own")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const notice = /** @type {HTMLInputElement} */ (document.getElementById("notice")).value;
  if (notice.trim() && (await send("/staff/do", { do: "notice", notice }))) location.reload();
});
const now = /** @type {HTMLInputElement | null} */ (document.getElementById("now"));
if (now) {
  // a phone knows the time; on the machine's own screen it is the machine's
  const here = new Date();
  now.value = new Date(here.getTime() - here.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}
document.getElementById("clock")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (now?.value && (await send("/staff/do", { do: "clock", now: now.value }))) location.reload();
});
goBack(Number(document.body.dataset.back), signOut);
tellHere();
