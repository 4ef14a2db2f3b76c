// States which update a page shows: `data-seq` of the document is its number, empty until the first one is drawn.
// @ts-check
const page = document.documentElement;
page.dataset.seq = "";

/** Note that the update is drawn whose event has this id: a number, with more after it on a table's pages. */
export function noteDrawn(/** @type {string | number} */ id) {
  page.dataset.seq = String(Number.parseInt(String(id), 10));
}
