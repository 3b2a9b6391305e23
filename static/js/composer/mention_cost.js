// What a message adds by its "@" names, and about what that costs: said before it is sent.

import { h } from "../lib/dom.js";
import { ApiError, api } from "../net/api.js";
import { say } from "../i18n/translate.js";

const NAMES = /(?:^|[\s(\uff08\u300c\u201c])@(?:"[^"\n]+"|\S+)/g;
const MOST = 2000; // characters of names that are asked about

let asked = "";

/**
 * Shows in *place* what the text of *area* adds; nothing where it names nothing.
 * @param {HTMLTextAreaElement} area
 * @param {HTMLElement} place
 */
export async function tell(area, place) {
  const names = namesIn(area);
  if (names === asked) return;
  asked = names;
  const cost = names ? await costOf(names) : "";
  if (asked !== names) return; // something was typed meanwhile
  if (namesIn(area) !== names) { // or sent
    asked = "";
    return;
  }
  place.replaceChildren(...(cost ? [h("p", { class: "muted mention-cost", text: say(cost) })] : []));
}

function namesIn(area) {
  return (area.value.match(NAMES) ?? []).map((name) => name.trim()).join(" ").slice(0, MOST);
}

/** Without an answer nothing is said: the message is sent all the same. */
async function costOf(names) {
  try {
    return (await api.mentions(names)).cost;
  } catch (refusal) {
    if (!(refusal instanceof ApiError)) throw refusal;
    asked = "";
    return "";
  }
}
