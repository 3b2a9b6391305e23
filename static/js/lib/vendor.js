// Libraries of others: the only file that knows their places and versions.
// Each comes only when it is first needed.

export const loadSocket = () => import("../../vendor/socket.io-client@4.8.4/socket.io.js");
export const loadMarked = () => import("../../vendor/marked@18.2.1/marked.js");
export const loadPurify = () => import("../../vendor/dompurify@3.4.18/dompurify.js");
export const loadDiff = () => import("../../vendor/diff@9.0.0/diff.js");
export const loadMerge = () => import("../../vendor/node-diff3@3.2.1/node-diff3.js");
export const loadEditor = () => import("../../vendor/codemirror@6.43.15/codemirror.js");
export const loadHighlight = () => import("../../vendor/highlight.js@11.12.0/core.js");

/** @param {string} name one of the files in `languages/` */
export const loadSyntax = (name) => import(`../../vendor/highlight.js@11.12.0/languages/${name}.js`);

export const loadKatex = () => import("../../vendor/katex@0.19.1/katex.js");
export const katexStyles = () => new URL("../../vendor/katex@0.19.1/katex.css", import.meta.url).href;
export const mermaidScript = () => new URL("../../vendor/mermaid@12.3.0/mermaid.js", import.meta.url).href;
export const loadTerminal = () => import("../../vendor/xterm@6.0.0/xterm.js");
export const xtermStyles = () => new URL("../../vendor/xterm@6.0.0/xterm.css", import.meta.url).href;
