// A terminal of xterm.js in which what a program writes can do nothing but be seen.

import { confirmed } from "../dialogs/dialog.js";
import { visible } from "../lib/format.js";
import { stylesReady } from "../lib/styles.js";
import { loadTerminal, xtermStyles } from "../lib/vendor.js";
import { t } from "../i18n/translate.js";

const SCROLLBACK = 5_000; // lines
const FONT_SIZE = 13; // px
const LINE_END = /\r\n?/g;
const NOT_TYPED = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]/g;

let loading;

/** Fetches xterm.js and its styles, once; asks again after a failure. */
function libraryReady() {
  loading ??= Promise.all([loadTerminal(), stylesReady(xtermStyles())]).catch((problem) => {
    loading = null;
    throw problem;
  });
  return loading;
}

/**
 * Makes a terminal in *place*.
 * @param {HTMLElement} place whose colours it takes
 * @param {() => boolean} mayAnswer whether a question of the program about the terminal is answered now
 */
export async function safeTerminal(place, mayAnswer) {
  const [{ Terminal, FitAddon }] = await libraryReady();
  const term = new Terminal({
    fontFamily: getComputedStyle(place).fontFamily,
    fontSize: FONT_SIZE,
    scrollback: SCROLLBACK,
    minimumContrastRatio: 4.5,
    cursorBlink: !matchMedia("(prefers-reduced-motion: reduce)").matches,
    logLevel: "off",
    windowOptions: {}, // a program may neither ask for the title nor move anything
    linkHandler: { activate: (_, link) => void follow(link), allowNonHttpProtocols: false },
  });
  refuseQuestions(term, mayAnswer);
  const fit = new FitAddon();
  term.loadAddon(fit);
  term.open(place);
  place.addEventListener("paste", (event) => void paste(term, event), true);
  const follower = followColors(term, place);
  return { term, fit, leave: () => (follower(), term.dispose()) };
}

/** Opens a link that a program has put under some text, once the person has seen where it leads. */
async function follow(link) {
  if (!/^https?:\/\//i.test(link)) return;
  if (await confirmed(t("Open {link}?", { link: visible(link) }), t("Open")))
    window.open(link, "_blank", "noopener,noreferrer");
}

/**
 * An answer to a question is typed into the program. Only who is, and where the cursor is, are told,
 * by the one page that is used just now; nothing that the program has said itself is ever given back.
 */
function refuseQuestions({ parser }, mayAnswer) {
  const never = () => true; // it is done with
  const sometimes = () => !mayAnswer();
  for (const prefix of [undefined, "?", ">"])
    for (const final of ["c", "n"]) parser.registerCsiHandler({ prefix, final }, sometimes);
  for (const prefix of [undefined, "?"])
    parser.registerCsiHandler({ prefix, intermediates: "$", final: "p" }, never); // of a mode
  parser.registerCsiHandler({ prefix: ">", final: "q" }, never); // the version
  parser.registerCsiHandler({ final: "t" }, never); // the window
  parser.registerDcsHandler({ intermediates: "$", final: "q" }, never); // a setting
  parser.registerDcsHandler({ intermediates: "+", final: "q" }, never);
  for (const kind of [4, 10, 11, 12]) parser.registerOscHandler(kind, (data) => data.includes("?")); // a colour
  for (const kind of [0, 1, 2, 52]) parser.registerOscHandler(kind, never); // title, clipboard
}

/** Pastes text without keys in it; several lines at once only as such, or after a question. */
async function paste(term, event) {
  event.preventDefault();
  event.stopPropagation();
  const given = event.clipboardData?.getData("text/plain") ?? "";
  const text = given.replace(LINE_END, "\n").replace(NOT_TYPED, ""); // either ends a line as Enter does
  const n = text.trim().split("\n").length;
  const question =
    n === 1
      ? t("Paste 1 line? It runs as soon as it is pasted.")
      : t("Paste {n:,} lines? Each runs as soon as it is pasted.", { n });
  if (text.includes("\n") && !term.modes.bracketedPasteMode && !(await confirmed(question, t("Paste")))) return;
  term.paste(text);
  term.focus();
}

/** Keeps the colours those of *place*, in the light and in the dark; returns what ends that. */
function followColors(term, place) {
  const draw = () => {
    const { color, backgroundColor } = getComputedStyle(place);
    const selection = getComputedStyle(place).outlineColor;
    term.options.theme = {
      foreground: color,
      background: backgroundColor,
      cursor: color,
      cursorAccent: backgroundColor,
      selectionBackground: selection,
    };
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = new MutationObserver(draw);
  dark.addEventListener("change", draw);
  chosen.observe(document.documentElement, { attributes: true, attributeFilter: ["data-scheme", "data-contrast"] });
  draw();
  return () => {
    dark.removeEventListener("change", draw);
    chosen.disconnect();
  };
}
