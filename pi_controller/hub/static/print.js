// The button that prints a page; without scripts the browser's own menu does.
// @ts-check

const button = /** @type {HTMLElement} */ (document.getElementById("print"));
button.hidden = false;
button.addEventListener("click", () => print());
