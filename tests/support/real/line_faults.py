"""What is wrong with how the texts of a page lie: lines cut by a box, numbers and buttons' words broken in two."""

LINE_FAULTS = """() => {
  const faults = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const pen = document.createElement("canvas").getContext("2d");
  const clips = e => ["hidden", "clip"].includes(getComputedStyle(e).overflowY);
  while (texts.nextNode()) {
    const text = texts.currentNode, parent = text.parentElement, words = text.data.trim();
    if (!words || /[0-9a-f]{32}/.test(words) || parent.closest(".unseen, script, style, svg, noscript")) continue;
    if (!parent.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const range = document.createRange();
    const whole = parent.closest("button") ? /(?<!\\p{L})\\p{L}{3,12}(?!\\p{L})/gu : /[0-9]{2,}/g;
    for (const { index, 0: number } of text.data.matchAll(whole)) {
      range.setStart(text, index);
      range.setEnd(text, index + number.length);
      const tops = [...range.getClientRects()].filter(line => line.width > 0).map(line => line.top);
      if (Math.max(...tops) - Math.min(...tops) > 4) faults.push(`${number} of “${words}” is broken`);
    }
    let box = parent;
    while (box && !clips(box)) box = box.parentElement;
    if (!box || box === document.body || box === document.documentElement) continue;
    const { top, bottom, left, right } = box.getBoundingClientRect();
    const style = getComputedStyle(parent);
    const size = parseFloat(style.fontSize) * (parent.currentCSSZoom ?? 1);
    pen.font = `${style.fontStyle} ${style.fontWeight} ${size}px ${style.fontFamily}`;
    const ink = pen.measureText(text.data);
    range.selectNodeContents(text);
    for (const line of range.getClientRects()) {
      if (line.left >= right || line.right <= left) continue;
      const seen = (y) => y > top && y < bottom;
      const baseline = line.top + ink.fontBoundingBoxAscent;
      const from = baseline - ink.actualBoundingBoxAscent + 1.5, to = baseline + ink.actualBoundingBoxDescent - 1.5;
      if (seen(from) !== seen(to)) faults.push(`“${words}” is cut`);
    }
  }
  return [...new Set(faults)];
}"""
"""A function that returns what is wrong, as sentences."""
