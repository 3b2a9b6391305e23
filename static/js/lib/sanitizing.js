// What markup of others may be, as DOMPurify lets it through: no program, no form, no address of ours.

import { t } from "../i18n/translate.js";

export const OPTIONS = {
  RETURN_DOM_FRAGMENT: true,
  FORBID_TAGS: [
    "style",
    "form",
    "button",
    "textarea",
    "select",
    "option",
    "svg",
    "math",
    "iframe",
    "audio",
    "video",
    "dialog",
  ],
  FORBID_ATTR: [
    "style",
    "id",
    "name",
    "tabindex",
    "accesskey",
    "contenteditable",
    "srcset",
    "usemap",
    "popover",
    "role",
    "slot",
  ],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP:
    /^(?:https?:|mailto:|data:image\/(?:png|jpe?g|gif|webp);|#|[\w+.-]*\.[a-z]\w*(?::\d+){1,2}$|(?![a-z][a-z0-9+.-]*:|\/\/))/i,
};

/**
 * Links leave in a new tab or open a file of the project; pictures come from the project only.
 * @param {Element} node
 * @param {string} base the folder that paths in what is being drawn start from
 * @param {(path: string) => string} addressOf of a picture of the project; "": it has none
 */
export function tame(node, base, addressOf) {
  if (node.tagName === "A" && node.hasAttribute("href")) tameLink(node, base);
  if (node.tagName === "IMG") tamePicture(node, base, addressOf);
  if (node.tagName === "INPUT") tameBox(node);
  if (node.tagName === "OL") makeRoom(node);
  if (node.hasAttribute?.("class") && node.tagName !== "CODE" && node.tagName !== "SPAN")
    node.removeAttribute("class");
}

/** No input but the box of a task in a list. */
function tameBox(box) {
  if (box.getAttribute("type") !== "checkbox") box.remove();
  box.setAttribute("disabled", "");
  box.setAttribute("aria-label", box.hasAttribute("checked") ? t("done") : t("to do"));
}

/** Says how many digits the longest number of *list* has, where they are more than usual. */
function makeRoom(list) {
  const last = (Number(list.getAttribute("start")) || 1) + list.childElementCount - 1;
  if (last > 99) list.dataset.digits = last > 9999 ? "many" : String(String(last).length);
}

/** A path, and the line in it, as `a.py#L2`, `a.py#L2-L9` and `a.py:2:1` name one. */
const PLACE = /^([^?#]*?)(?:#L(\d+)(?:C\d+)?\b.*|:(\d+)(?::\d+)?|[?#].*)?$/s;

function tameLink(link, base) {
  const href = link.getAttribute("href");
  if (/^(https?|mailto):/i.test(href)) {
    link.setAttribute("target", "_blank");
    link.setAttribute("rel", "noopener noreferrer nofollow");
  } else if (!href.startsWith("#")) {
    const [, path, marked, counted] = PLACE.exec(href);
    const line = marked ?? counted;
    link.setAttribute("href", "#");
    link.dataset.path = inProject(path, base);
    if (line) link.dataset.line = line;
  }
}

function tamePicture(picture, base, addressOf) {
  const source = picture.getAttribute("src") ?? "";
  picture.setAttribute("loading", "lazy");
  if (source.startsWith("data:")) return;
  // Its server would know that we are here.
  if (/^https?:/i.test(source)) return spellOut(picture, picture.alt || source);
  const path = inProject(source, base);
  const address = addressOf(path);
  const words = [picture.alt, path].filter(Boolean).join(": ");
  if (!address) return spellOut(picture, words);
  picture.setAttribute("src", address);
  picture.addEventListener("error", () => spellOut(picture, words), { once: true });
}

function spellOut(picture, words) {
  picture.replaceWith(document.createTextNode(`[${words}]`));
}

/** The path in the project that *reference* means, as it stands in a file of the folder *base*. */
function inProject(reference, base) {
  const path = decoded(reference);
  const parts = [];
  for (const part of `${path.startsWith("/") ? "" : base}/${path}`.split("/")) {
    if (part === "..") parts.pop();
    else if (part && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

function decoded(path) {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
