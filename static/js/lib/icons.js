// Line icons on a 16-pixel grid, drawn in the colour of the text around them.

const SVG = "http://www.w3.org/2000/svg";

const PATHS = {
  add: "M8 3v10M3 8h10",
  alert: "M8 2.5 14.2 13.5H1.8ZM8 6.5v3.2M8 11.6v.1",
  archive: "M2.5 3.5h11v3h-11ZM3.5 6.5v6.5h9V6.5M6.5 9h3",
  bell: "M8 2.2a3.8 3.8 0 0 0-3.8 3.8c0 3.6-1.4 5-1.4 5h10.4s-1.4-1.4-1.4-5A3.8 3.8 0 0 0 8 2.2ZM6.8 13.2h2.4",
  book: "M3 3h4.2a.8.8 0 0 1 .8.8v9.2a1 1 0 0 0-1-1H3ZM13 3H8.8a.8.8 0 0 0-.8.8v9.2a1 1 0 0 1 1-1h4Z",
  brain:
    "M8 3.2A2.3 2.3 0 0 0 3.8 4.6 2.4 2.4 0 0 0 3 9a2.4 2.4 0 0 0 3 3.3c.4.9 1.2 1 2 .2V3.2Zm0 0a2.3 2.3 0 0 1 4.2 1.4A2.4 2.4 0 0 1 13 9a2.4 2.4 0 0 1-3 3.3c-.4.9-1.2 1-2 .2",
  changes: "M4.5 2.5h5l3 3v8h-8ZM6.5 7h4M8.5 5v4M6.5 11h4",
  chat: "M2.5 3.5h11v7.5H7L4 13.5V11H2.5Z",
  check: "m3 8.5 3.3 3.3L13 4.8",
  chevron: "m6 3.5 4.5 4.5L6 12.5",
  close: "m4 4 8 8M12 4l-8 8",
  contrast: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2v12",
  copy: "M5.5 5.5h8v8h-8ZM3.5 10.5h-1v-8h8v1",
  delete: "M3 4.5h10M6 4.5v-2h4v2M4.5 4.5l.6 9h5.8l.6-9M7 7v4M9 7v4",
  down: "M8 3v10M4 9l4 4 4-4",
  download: "M8 2.5v7.5M4.8 7 8 10.2 11.2 7M3 13.5h10",
  edit: "M10.8 2.8 13.2 5.2 5.5 12.9l-3 .6.6-3Z",
  eye: "M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8ZM8 6.2a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6",
  file: "M4 2.5h5l3 3v8H4ZM9 2.5v3h3",
  folder: "M2 4h4l1.5 1.5H14v7.5H2Z",
  fork: "M5 2.8v10.4M5 9c4 0 6-1 6-4.2M3.8 2.8h2.4M3.8 13.2h2.4M9.8 3.6h2.4",
  globe: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM2 8h12M8 2c2.2 2 2.2 10 0 12M8 2c-2.2 2-2.2 10 0 12",
  image: "M2.5 3h11v10h-11ZM4 11.5l3-3.5 2.2 2.5 1.5-1.5 2 2.5M10.5 6h.1",
  keyboard: "M1.8 4.5h12.4v7H1.8ZM4 7h.1M6.5 7h.1M9 7h.1M11.5 7h.1M5 9.5h6",
  language:
    "M2.5 4h7M6 2.5V4M8 4c-.6 2.6-2.4 4.6-5 5.8M4 6.2c1 1.7 2.4 2.9 4.2 3.6M8 13.5l2.8-7 2.8 7M9 11.3h3.6",
  link: "M6.8 9.2a2.4 2.4 0 0 0 3.4 0l2.2-2.2A2.4 2.4 0 0 0 9 3.6l-.8.8M9.2 6.8a2.4 2.4 0 0 0-3.4 0L3.6 9A2.4 2.4 0 0 0 7 12.4l.8-.8",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  moon: "M13 9.6A5.4 5.4 0 0 1 6.4 3a5.4 5.4 0 1 0 6.6 6.6Z",
  more: "M3.5 8h.1M8 8h.1M12.5 8h.1",
  note: "M3 3h10v7.5L10.5 13H3ZM13 10.5h-2.5V13M5.5 6h5M5.5 8.5h3",
  panel: "M2 3h12v10H2ZM10 3v10",
  pin: "M6 2.5h4l-.6 4.3 2.1 2.2h-7l2.1-2.2ZM8 9v4.5",
  play: "M5 3.2v9.6L12.5 8Z",
  plan: "M6.5 4h7M6.5 8h7M6.5 12h7M2.5 4l.8.8L4.6 3.4M2.5 8l.8.8L4.6 7.4M2.5 12l.8.8 1.3-1.4",
  redo: "M13 6.5H6.5a3.5 3.5 0 0 0 0 7H10M10.5 3.5l3 3-3 3",
  refresh: "M13 8a5 5 0 1 1-1.6-3.7M13 2.5v2.8h-2.8",
  search: "M7 2.8a4.2 4.2 0 1 1 0 8.4 4.2 4.2 0 0 1 0-8.4M10.2 10.2l3.3 3.3",
  send: "M8 13V3.5M3.8 7.5 8 3.3l4.2 4.2",
  sidebar: "M2 3h12v10H2ZM6 3v10",
  stop: "M4.5 4.5h7v7h-7Z",
  sun: "M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.8.8M11.8 11.8l.8.8M3.4 12.6l.8-.8M11.8 4.2l.8-.8",
  system: "M2 3h12v8H2ZM5.5 13.5h5M8 11v2.5",
  tag: "M2.5 2.5h5l6 6-5 5-6-6ZM5 5h.1",
  terminal: "M2 3h12v10H2ZM4.5 6l2 2-2 2M8 10.3h3",
  tool: "M9.5 3.2a3.2 3.2 0 0 0-1 4.1L3 12.8l1 1 5.5-5.4a3.2 3.2 0 0 0 4-4.2l-1.9 1.9-1.6-.4-.4-1.6Z",
  undo: "M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M5.5 3.5l-3 3 3 3",
  split: "M2 3h12v10H2ZM8 3v10",
  up: "m4 10 4-4 4 4",
  upload: "M8 10.5V3M4.8 6 8 2.8 11.2 6M3 13.5h10",
};

/**
 * @param {keyof typeof PATHS} name
 * @param {string} [className]
 * @returns {SVGSVGElement} hidden from screen readers: say what it means beside it
 */
export function icon(name, className = "") {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", `icon ${className}`.trim());
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name] ?? PATHS.tool);
  svg.append(path);
  return svg;
}
