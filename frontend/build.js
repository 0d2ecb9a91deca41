// Bundles: what the app, a notebook and a page of its own load. `node build.js` writes them, `node build.js --check`
// says whether the committed ones are those of the sources.

import { mkdir, readFile, readdir, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));
const folder = path.join(here, "..", "capsviz", "boards", "bundles");
// A first line of its own: Streamlit takes a text of a single line for the name of a file.
const note = "/* Built from frontend/ by `make bundles`: change the sources, not this. */";
const parts = [
  "app/address",
  "app/page-link",
  "app/keys",
  "app/picture-buttons",
  "app/drawing-pad",
  "app/routing-board",
  "app/capsule-maps",
  "app/live-decoder",
  "app/toy",
  "app/squash",
  "app/margin-loss",
  "app/tour",
  "app/notes",
  "app/mixture",
  "app/sweep",
  "page/page",
  "notebook/widget",
];

const { outputFiles, metafile } = await build({
  absWorkingDir: here,
  entryPoints: parts.map((part) => `${part}.ts`),
  entryNames: "[name]",
  outdir: folder,
  bundle: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  minify: true,
  banner: { js: note, css: note },
  metafile: true,
  write: false,
});
const made = new Map();
for (const { path: file, text } of outputFiles) {
  const { inputs } = metafile.outputs[path.relative(here, file)];
  made.set(path.basename(file), text + (await licences(Object.keys(inputs))));
}

if (process.argv.includes("--check")) {
  const committed = new Set(await readdir(folder).catch(() => []));
  const differing = [];
  for (const name of new Set([...committed, ...made.keys()])) {
    const text = committed.has(name) ? await readFile(path.join(folder, name), "utf8") : undefined;
    if (text !== made.get(name)) differing.push(name);
  }
  if (differing.length) {
    console.error(`Not what frontend/ builds: ${differing.sort().join(", ")}. Run "make bundles" and commit them.`);
    process.exit(1);
  }
} else {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) if (!made.has(name)) await unlink(path.join(folder, name));
  for (const [name, text] of made) await writeFile(path.join(folder, name), text);
}

/** What packages the inputs of a bundle come from, with their licences, each text once. */
async function licences(inputs) {
  const names = [
    ...new Set(inputs.flatMap((input) => input.match(/(?:^|\/)node_modules\/([^/]+)\//)?.[1] ?? [])),
  ].sort();
  const texts = new Map();
  for (const name of names) {
    const at = (file) => readFile(path.join(here, "node_modules", name, file), "utf8");
    const { version } = JSON.parse(await at("package.json"));
    const text = (await at("LICENSE")).trim();
    texts.set(text, [...(texts.get(text) ?? []), `${name} ${version}`]);
  }
  return [...texts].map(([text, packages]) => `/*! ${packages.join(", ")}\n${text}\n*/\n`).join("");
}
