// Writes into templates/index.html which modules the browser may fetch at once: all that the
// first picture needs. Run it after adding or removing an import; a test compares.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const STATIC = join(ROOT, "static");
const PAGE = join(ROOT, "templates", "index.html");

/** Where the page begins, and what it imports by itself right after its first paint. */
const ENTRIES = ["js/main.js", "js/conversation/items.js", "js/changes/changes.js"];
const LIBRARIES = /^vendor\/(marked|dompurify|socket\.io-client)@/;

const imports = (text) =>
  [...text.matchAll(/^(?:import|export)\b[^;]*?from "([^"]+)"/gms)].map((match) => match[1]);
const dynamic = (text) => [...text.matchAll(/import\("([^"]+)"\)/g)].map((match) => match[1]);

function follow(file, seen) {
  if (seen.has(file)) return;
  seen.add(file);
  if (file.includes(`${STATIC}/vendor/`)) return;
  const text = readFileSync(file, "utf8");
  for (const name of imports(text)) follow(resolve(dirname(file), name), seen);
  for (const name of dynamic(text)) {
    const target = resolve(dirname(file), name);
    if (LIBRARIES.test(relative(STATIC, target))) seen.add(target);
  }
}

const seen = new Set();
for (const entry of ENTRIES) follow(join(STATIC, entry), seen);
const links = [...seen]
  .map((file) => relative(STATIC, file))
  .filter((path) => path !== "js/main.js")
  .sort()
  .map((path) => `  <link rel="modulepreload" href="{{ static }}/${path}">`);
const page = readFileSync(PAGE, "utf8").replace(
  /(?: *<link rel="modulepreload"[^\n]*\n)*(?= *<script type="application)/,
  `${links.join("\n")}\n`,
);
if (process.argv.includes("--check")) process.exit(page === readFileSync(PAGE, "utf8") ? 0 : 1);
writeFileSync(PAGE, page);
