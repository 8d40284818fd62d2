/** Builds the client's package: one file of code, and its declarations. Nothing in them has to be installed beside the package. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { Failure } from "../support/output.ts";
import { ROOT } from "../support/paths.ts";

export const CLIENT = join(ROOT, "packages", "client");
const TSC = join(ROOT, "node_modules", "typescript", "bin", "tsc");

/** Writes `packages/client/dist` and says how large the code is. */
export async function buildClient(): Promise<string> {
  const code = await bundleClient();
  const files = { "client.js": code, ...declareClient() };
  const dist = join(CLIENT, "dist");
  mkdirSync(dist, { recursive: true });
  // A file that another build is writing at the same time has its process in its name.
  const stale = readdirSync(dist).filter((name) => !(name in files || /\.\d+$/.test(name)));
  for (const name of stale) rmSync(join(dist, name), { recursive: true, force: true });
  for (const [name, text] of Object.entries(files)) replaceFile(join(dist, name), text);
  return `packages/client/dist/client.js: ${code.length} bytes, ${gzipSync(code).length} with gzip`;
}

/** The whole client in one file, minified: pages and Workers may load it as it is. Its lines are short, since an uncaught error prints one. */
export async function bundleClient(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(CLIENT, "src", "client.ts")],
    bundle: true,
    format: "esm",
    target: "es2022",
    platform: "neutral",
    mainFields: ["module", "main"],
    minify: true,
    lineLimit: 120,
    write: false,
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
}

function declareClient(): Record<string, string> {
  const made = mkdtempSync(join(tmpdir(), "longhand-client-"));
  try {
    const args = [TSC, "-p", CLIENT, "--emitDeclarationOnly", "--outDir", made];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    if (status !== 0) throw new Failure(`The client's declarations could not be built:\n${stdout}${stderr}`);
    return Object.fromEntries(readdirSync(made).map((name) => [name, nameOutput(readFileSync(join(made, name), "utf8"))]));
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** The compiler leaves the names of sources in declarations. Every resolution finds `x.d.ts` by `x.js`. */
const nameOutput = (text: string): string => text.replace(/( from "\.\/[\w-]+)\.ts"/g, '$1.js"');

/** A program that imports the client at the same time never reads half of a file. */
function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}
