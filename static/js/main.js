// Puts the page together.

import { App } from "./app.js";
import { sessionOf } from "./lib/address.js";
import { h } from "./lib/dom.js";
import { translationsReady } from "./i18n/translate.js";
import { noticesView } from "./notices/notices.js";
import { approval } from "./approval/approval.js";
import { composer } from "./composer/composer.js";
import { conversation } from "./conversation/conversation.js";
import { sidePart } from "./layout/side.js";
import { fileTree } from "./tree/tree.js";
import { shortcuts } from "./keyboard/shortcuts.js";
import { layout } from "./layout/layout.js";
import { pane } from "./layout/pane.js";
import { statusBar } from "./status/status_bar.js";
import { topBar } from "./layout/top_bar.js";

await translationsReady();
const app = new App();
const parts = {
  conversation: conversation(app),
  approval: approval(app),
  composer: composer(app),
  tree: fileTree(app),
  pane: pane(app),
};
const chat = h(
  "section",
  { class: "chat" },
  parts.conversation.element,
  h("div", { class: "below" }, parts.approval.element, parts.composer.element),
);
const page = layout(app, {
  topBar: topBar(app).element,
  side: sidePart(app, parts.tree.element),
  chat,
  pane: parts.pane.element,
  status: statusBar(app).element,
});
document.body.replaceChildren(page.element, noticesView(app).element);

parts.tree.start();
import("./layout/after_paint.js").then(({ afterPaint }) => afterPaint(app, parts.tree));
shortcuts(app, { ...parts, layout: page });
app.on("asked", (question) => {
  const isWriting = document.activeElement?.closest?.("textarea, input, .editor");
  if (!isWriting || (document.activeElement === parts.composer.area && !parts.composer.area.value))
    question.element.focus({ preventScroll: true });
});
app.on("answered", () => {
  if (!document.activeElement || document.activeElement === document.body) parts.composer.focus();
});
addEventListener("popstate", () => {
  if (sessionOf(location.pathname)) app.openSession(sessionOf(location.pathname), true);
});
parts.composer.focus();
await app.start();
parts.pane.restore();
if (app.state.status.terminals) parts.pane.offerTerminals();

let isOffering = false;
let inFile = null;
/** Loads what can be done with selected text when some is selected for the first time. */
async function offer() {
  if (isOffering || (!inFile && document.getSelection()?.isCollapsed !== false)) return;
  isOffering = true;
  try {
    const { selection } = await import("./selection/selection.js");
    selection(app, inFile);
  } catch (problem) {
    isOffering = false; // the next selection tries again
    throw problem;
  }
}
document.addEventListener("selectionchange", offer);
app.on("selected", (selected) => {
  inFile = selected;
  offer();
});
