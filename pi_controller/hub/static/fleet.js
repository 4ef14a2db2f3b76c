// The fleet's page: sends a test message to the webhook, and shows whether it was accepted.
// @ts-check
import "./boards.js";

const said = /** @type {HTMLElement} */ (document.getElementById("said"));
const words = document.body.dataset;

document.getElementById("test")?.addEventListener("click", async (event) => {
  const button = /** @type {HTMLButtonElement} */ (event.currentTarget);
  button.disabled = true;
  said.textContent = "";
  try {
    const answer = await fetch("/director/fleet/test", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
    const told = await answer.json();
    if (answer.status === 401) location.reload();
    said.textContent = (answer.ok ? words.done : [told.error.what, told.error.todo].filter(Boolean).join(": ")) ?? "";
  } catch {
    said.textContent = words.failed ?? "";
  }
  button.disabled = false;
});
