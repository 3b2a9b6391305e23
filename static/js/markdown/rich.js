// What a finished block of Markdown holds beside words: formulas and diagrams are drawn, tables
// sort and copy, pictures open large. Each is fetched when the first of its kind is there; where it
// cannot be, or what is written is wrong, the text stays as it was written.

import { enlargeable } from "./large.js";

const FORMULAS = "code.formula, code.displayed-formula, figure[data-language=math]";

/** @param {HTMLElement} block */
export async function enrich(block) {
  for (const picture of block.querySelectorAll("img")) if (!picture.closest("a, button")) enlargeable(picture);
  const [found, diagrams, tables] = [FORMULAS, "figure[data-language=mermaid]", "table"].map((what) => [
    ...block.querySelectorAll(what),
  ]);
  if (tables.length) {
    const { addTableTools } = await import("../tables/table_tools.js");
    tables.forEach(addTableTools);
  }
  if (found.length) {
    const { drawFormulas } = await import("./formulas.js");
    await drawFormulas(found);
  }
  if (diagrams.length) {
    const { drawDiagram } = await import("./diagram.js");
    diagrams.forEach(drawDiagram);
  }
}
