/**
 * Copies the viewer of the reference page from its package to assets/docs, where Wrangler takes the Worker's static assets from. Plain
 * JavaScript, because Wrangler runs it before every build (wrangler.toml) by the Node that it finds.
 */
import { copyFileSync, existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const FILES = ["swagger-ui-bundle.js", "swagger-ui-bundle.js.LICENSE.txt", "swagger-ui.css"];

/** The packages are pinned, so a file of the same size is the same file. */
const isCopied = (from, to) => existsSync(to) && statSync(to).size === statSync(from).size;

for (const name of FILES) {
  const from = join(root, "node_modules", "swagger-ui-dist", name);
  const to = join(root, "assets", "docs", name);
  if (!isCopied(from, to)) copyFileSync(from, to);
}
