// Makes static/vendor anew: `npm ci && node vendor.mjs` in this folder. For maintainers only.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = dirname(HERE);
const MODULES = join(HERE, "node_modules");
const VENDOR = join(ROOT, "static", "vendor");

/** Syntaxes that are coloured in the conversation; each is fetched when it is first needed. */
const SYNTAXES = `bash c cpp csharp css diff dockerfile go ini java javascript json kotlin lua
  makefile markdown php python r ruby rust sql swift typescript xml yaml`.split(/\s+/);

/** What to take: `copy` files as they are, or `bundle` an entry into one minified module. */
const TAKEN = [
  {
    name: "socket.io-client",
    copy: { "dist/socket.io.esm.min.js": "socket.io.js" },
    also: /^((socket|engine)\.io-(client|parser)|@socket\.io\/component-emitter)$/,
  },
  { name: "marked", bundle: "marked" },
  { name: "dompurify", bundle: "dompurify" },
  { name: "diff", bundle: "diff" },
  { name: "node-diff3", bundle: "node-diff3", licence: "LICENSE.md" },
  {
    name: "@highlightjs/cdn-assets",
    as: "highlight.js",
    copy: Object.fromEntries([
      ["es/core.min.js", "core.js"],
      ...SYNTAXES.map((name) => [`es/languages/${name}.min.js`, `languages/${name}.js`]),
    ]),
  },
  {
    name: "@codemirror/view",
    as: "codemirror",
    entry: "codemirror.entry.mjs",
    also: /^@(codemirror|lezer|marijn)\/|^(crelt|style-mod|w3c-keyname)$/,
  },
  {
    name: "katex",
    bundle: "katex",
    copy: {
      "dist/katex.min.css": "katex.css",
      ...Object.fromEntries(fontsOf("katex/dist/fonts").map((name) => [`dist/fonts/${name}`, `fonts/${name}`])),
    },
  },
  {
    name: "mermaid",
    entry: "mermaid.entry.mjs",
    // A megabyte and a half for a layout that a diagram has to ask for, and formulas in labels.
    without: /^(elkjs|katex)(\/|$)/,
    format: "iife",
  },
  {
    name: "@xterm/xterm",
    as: "xterm",
    entry: "xterm.entry.mjs",
    copy: { "css/xterm.css": "xterm.css" },
    instead: { document: "styledDocument", "window.document": "styledDocument" },
    from: "xterm.document.mjs",
  },
];

/** The fonts in *folder*, in the one format that every browser of today reads. */
function fontsOf(folder) {
  return readdirSync(join(MODULES, folder)).filter((name) => name.endsWith(".woff2"));
}

const manifestOf = (name) => JSON.parse(readFileSync(join(MODULES, name, "package.json"), "utf8"));

function packages() {
  return readdirSync(MODULES).flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(MODULES, name)).map((inner) => `${name}/${inner}`) : [name],
  );
}

function licenceOf(name) {
  const file = readdirSync(join(MODULES, name)).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no licence file`);
  return readFileSync(join(MODULES, name, file), "utf8").trim();
}

/** Returns one text with the licences of *names*, equal ones once. */
function licences(names) {
  const owners = new Map();
  for (const name of names) {
    const text = licenceOf(name);
    owners.set(text, [...(owners.get(text) ?? []), `${name} ${manifestOf(name).version}`]);
  }
  return [...owners].map(([text, who]) => `${who.join("\n")}\n\n${text}\n`).join(`\n${"-".repeat(78)}\n\n`);
}

/**
 * Bundles *entry*, in the packages of which *instead* says what the globals are that it names: what
 * *from* exports. Returns the names of the packages of which something is in it.
 */
async function bundle(entry, target, { format = "esm", without, instead, from } = {}) {
  const { metafile } = await build({
    entryPoints: [entry],
    outfile: target,
    bundle: true,
    minify: true,
    format,
    target: "es2022",
    legalComments: "none",
    nodePaths: [MODULES],
    logLevel: "warning",
    metafile: true,
    define: instead,
    inject: from ? [join(HERE, from)] : [],
    plugins: without ? [leaveOut(without)] : [],
  });
  const [{ inputs }] = Object.values(metafile.outputs);
  const inside = Object.keys(inputs).map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]);
  return [...new Set(inside.filter(Boolean))];
}

/** What matches *names* becomes a module that fails when it is used, and only then. */
const leaveOut = (names) => ({
  name: "leave-out",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: names }, ({ path }) => ({ path, namespace: "left-out" }));
    onLoad({ filter: /.*/, namespace: "left-out" }, ({ path }) => ({
      contents: `export default class { constructor() { throw new Error("${path} is left out"); } }`,
    }));
  },
});

/** The text of a file as it is kept: without what only its makers need, or formats of old browsers. */
function kept(text, path) {
  if (path.endsWith(".css")) return text.replace(/,url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)/g, "");
  return text.replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "\n");
}

async function take(wanted) {
  const { version, license } = manifestOf(wanted.name);
  const name = wanted.as ?? wanted.name;
  const folder = join(VENDOR, `${name}@${version}`);
  mkdirSync(folder, { recursive: true });
  for (const [from, to] of Object.entries(wanted.copy ?? {})) {
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    const data = readFileSync(join(MODULES, wanted.name, from));
    writeFileSync(join(folder, to), to.endsWith(".woff2") ? data : kept(data.toString("utf8"), to));
  }
  if (wanted.bundle) await bundle(wanted.bundle, join(folder, `${wanted.bundle}.js`));
  let inside = wanted.also ? packages().filter((each) => wanted.also.test(each)) : [wanted.name];
  if (wanted.entry) {
    const bundled = await bundle(join(HERE, wanted.entry), join(folder, `${name}.js`), wanted);
    if (!wanted.also) inside = bundled;
  }
  writeFileSync(join(folder, "LICENSE"), licences(inside.sort()));
  return { name, version, licence: license, folder: `${name}@${version}`, files: hashes(folder) };
}

function hashes(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const paths = files.map((file) => join(file.parentPath, file.name)).sort();
  return Object.fromEntries(
    paths.map((path) => [
      path.slice(folder.length + 1),
      createHash("sha256").update(readFileSync(path)).digest("hex"),
    ]),
  );
}

const page = (taken) => `# Other people's work in the page

The browser screen ships these libraries in \`static/vendor\`, each with its licence beside it.
\`tools/vendor.mjs\` makes that folder and this page; \`static/vendor/vendor.json\` has the hashes.

| library | version | licence |
|---|---|---|
${taken.map((each) => `| ${each.name} | ${each.version} | ${each.licence} |`).join("\n")}
`;

rmSync(VENDOR, { recursive: true, force: true });
const taken = [];
for (const wanted of TAKEN) taken.push(await take(wanted));
writeFileSync(join(VENDOR, "vendor.json"), `${JSON.stringify(taken, null, 1)}\n`);
writeFileSync(join(ROOT, "THIRD_PARTY.md"), page(taken));
