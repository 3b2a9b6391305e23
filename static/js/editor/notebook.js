// A notebook (.ipynb): its cells one below another, with what they gave. Whatever of it is markup
// stands in a frame without an origin, in which nothing runs.

import { h } from "../lib/dom.js";
import { folderOf, visible } from "../lib/format.js";
import { outputView } from "../cards/output.js";
import { codeBlock } from "../markdown/code_block.js";
import { enlargeable } from "../markdown/large.js";
import { MarkdownWriter } from "../markdown/writer.js";
import { t } from "../i18n/translate.js";

const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/**
 * @param {HTMLElement} place
 * @param {string} text of the file
 * @param {string} path
 * @param {(path: string, line?: number) => void} openFile
 */
export function drawNotebook(place, text, path, openFile) {
  const notebook = parsed(text);
  const cells = notebook?.cells ?? notebook?.worksheets?.[0]?.cells;
  if (!Array.isArray(cells)) {
    place.append(h("p", { class: "muted", text: t("This is not a valid notebook. Turn off Preview to see its text.") }));
    return;
  }
  const language = String(notebook.metadata?.language_info?.name ?? notebook.metadata?.kernelspec?.language ?? "python");
  const markdown = (written) => {
    const writer = new MarkdownWriter(openFile, folderOf(path));
    writer.write(written, true);
    return writer.element;
  };
  place.append(...cells.map((cell, at) => drawCell(cell ?? {}, at, language, markdown)));
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null; // it is being written, perhaps
  }
}

function drawCell(cell, at, language, markdown) {
  const source = joined(cell.source ?? cell.input);
  const label = t("Cell {n}", { n: at + 1 });
  if (cell.cell_type === "markdown")
    return h("section", { class: "cell", "aria-label": label }, markdown(withAttachments(source, cell.attachments)));
  if (cell.cell_type !== "code")
    return h("section", { class: "cell", "aria-label": label }, h("pre", { text: visible(source) }));
  const count = cell.execution_count ?? cell.prompt_number;
  const title = Number.isInteger(count) ? t("In [{n}]", { n: count }) : t("Not run");
  const outputs = Array.isArray(cell.outputs) ? cell.outputs : [];
  return h(
    "section",
    { class: "cell", "aria-label": label },
    source ? codeBlock(source, language, { title }) : h("p", { class: "muted", text: title }),
    ...outputs.map((output) => drawOutput(output ?? {}, markdown)),
  );
}

/** nbformat keeps texts whole or as a list of their lines. */
const joined = (text) => (Array.isArray(text) ? text.join("") : String(text ?? ""));

/** *source* with its attached pictures in their places. */
function withAttachments(source, attachments) {
  return source.replace(/\(attachment:([^)\s]+)\)/g, (whole, name) => {
    const [kind, data] = Object.entries(attachments?.[name] ?? {})[0] ?? [];
    return PICTURES.includes(kind) ? `(data:${kind};base64,${joined(data).replace(/\s/g, "")})` : whole;
  });
}

function drawOutput(output, markdown) {
  switch (output.output_type) {
    case "stream":
      return outputView(joined(output.text), { head: 100, tail: 60 });
    case "error":
    case "pyerr":
      return outputView(joined((output.traceback ?? [`${output.ename}: ${output.evalue}`]).join("\n")));
    default:
      return drawData(output.data ?? {}, markdown);
  }
}

/** The richest form of *data* that is safe to show. */
function drawData(data, markdown) {
  const plain = joined(data["text/plain"]);
  const kind = PICTURES.find((each) => data[each]);
  if (kind) return picture(`data:${kind};base64,${joined(data[kind]).replace(/\s/g, "")}`, plain);
  if (data["image/svg+xml"])
    return picture(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(joined(data["image/svg+xml"]))}`, plain);
  if (data["text/html"]) return markup(joined(data["text/html"]), plain);
  if (data["text/markdown"]) return markdown(joined(data["text/markdown"]));
  if (data["text/latex"]) return markdown(joined(data["text/latex"]));
  if (data["application/json"]) return codeBlock(JSON.stringify(data["application/json"], null, 2), "json");
  return outputView(plain);
}

const picture = (src, plain) => enlargeable(h("img", { src, alt: plain || t("Output") }));

/** Markup of others, without scripts and without an origin; what needs them says so in words. */
function markup(html, plain) {
  const frame = h("iframe", { class: "cell-html", sandbox: "", srcdoc: html, title: t("Output") });
  return /<script\b/i.test(html) ? h("div", {}, frame, plain && outputView(plain)) : frame;
}
