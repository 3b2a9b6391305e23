// Makes templates/replay.html: the page of an exported session, with everything it needs inside.
// Run `npm ci && node replay.mjs` here after changing what it is made of; a test compares the stamp.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = dirname(HERE);
const PAGE = join(ROOT, "templates", "replay.html");
const STYLES = ["base", "conversation", "cards"].map((name) => join(ROOT, "static", "css", `${name}.css`));

/** One hash of all the files the page is made of. */
function stamp() {
  const folders = ["lib", "state", "cards"].map((name) => join(ROOT, "static", "js", name));
  const scripts = folders.flatMap((folder) =>
    readdirSync(folder)
      .sort()
      .map((name) => join(folder, name)),
  );
  const files = [
    ...scripts,
    join(ROOT, "static", "js", "views", "items.js"),
    ...STYLES,
    join(HERE, "replay.entry.mjs"),
    join(HERE, "replay.mjs"),
  ];
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest("hex").slice(0, 16);
}

async function script() {
  const { build } = await import("esbuild");
  const result = await build({
    entryPoints: [join(HERE, "replay.entry.mjs")],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    write: false,
    legalComments: "none",
    logLevel: "warning",
  });
  return result.outputFiles[0].text.replaceAll("</script", "<\\/script");
}

const licences = () =>
  readdirSync(join(ROOT, "static", "vendor"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .join(", ");

const page = async () => `<!doctype html>
<!-- ${stamp()} made by tools/replay.mjs; holds parts of ${licences()}: see THIRD_PARTY.md -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<title>{{ title }}</title>
<style>{% raw %}${STYLES.map((file) => readFileSync(file, "utf8")).join("\n")}
body { overflow: auto; } html, body { height: auto; }
.head-line { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; justify-content: space-between; padding-bottom: 16px; border-bottom: 1px solid var(--line); }
.head-line h1 { font-size: 20px; }{% endraw %}</style>
</head>
<body>
<main class="column"><div class="head-line"><h1>{{ title }}</h1><div class="buttons" id="play"></div></div><div id="conversation"></div></main>
<script type="application/json" id="tools">{{ tools|safe }}</script>
<script type="application/json" id="events">{{ events|safe }}</script>
<script type="application/json" id="pictures">{{ pictures|safe }}</script>
<script type="module">{% raw %}${await script()}{% endraw %}</script>
</body>
</html>
`;

if (process.argv.includes("--check"))
  process.exit(readFileSync(PAGE, "utf8").includes(`<!-- ${stamp()} `) ? 0 : 1);
writeFileSync(PAGE, await page());
