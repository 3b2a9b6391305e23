// Where keys lead within the page: from message to message, from part to part.

/** Goes to the message before or after what is at the top of the view. */
export function jump(by) {
  const log = document.querySelector(".log");
  const tops = [...log.querySelectorAll(".person")].map((message) => message.offsetTop);
  const at = log.scrollTop + 16;
  const next = by > 0 ? tops.find((top) => top > at + 8) : tops.findLast((top) => top < at - 8);
  log.scrollTo({ top: next === undefined ? (by > 0 ? log.scrollHeight : 0) : next - 16 });
}

/** Puts the focus into the part of the page after the one that has it, or before. */
export function nextPart({ tree, conversation, composer, pane }, by) {
  const order = [
    [tree.element, () => tree.focus()],
    [conversation.element, () => conversation.focus()],
    [composer.element, () => composer.focus()],
    [pane.element, () => pane.element.querySelector("button")?.focus()],
  ];
  const at = order.findIndex(([element]) => element.contains(document.activeElement));
  order[(at + by + order.length) % order.length][1]();
}
