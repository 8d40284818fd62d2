/**
 * The package as a project has it that installs it: packed by npm, installed without a network and outside of the repository, compiled
 * in each environment that it is for, and run against a backend. Its README's programs are compiled and run too.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { bundleClient, CLIENT } from "../../../scripts/client/build";
import { ROOT } from "../../../scripts/support/paths";
import { openTenant } from "../../support/shared-server";

const MINUTES = 60_000;
const MOST_BYTES = 12 * 1_024;

const PROGRAM = `
import { type Item, Longhand, LonghandError, type StreamFrame, type Turn } from "longhand/client";

export async function talk(url: string, key: string): Promise<readonly string[]> {
  const longhand = new Longhand({ url, key: async () => key, retries: 1 });
  const session = await longhand.put("/v1/sessions/by-external-id/{external_id}", { path: { external_id: "工单/1" } });
  const turn: Turn = await longhand.send(session.id, "My dog is called Rex.", { signal: AbortSignal.timeout(60_000) });
  const said: string[] = [turn.status];
  const path = { session_id: session.id };
  for await (const message of longhand.list("/v1/sessions/{session_id}/messages", { path, query: { limit: 1 } })) {
    const item: Item = message;
    said.push(item.role);
  }
  // @ts-expect-error: an unknown field
  const error: unknown = await longhand.post("/v1/sessions", { body: { titel: "x" } }).catch((thrown: unknown) => thrown);
  if (error instanceof LonghandError) said.push(error.code, ...error.errors.map(({ field }) => field));
  return said;
}

export const readText = (event: StreamFrame): string => (event.type === "text.delta" ? event.text : "");
`;

const RUN = `
import { talk } from "./program.ts";
console.log(JSON.stringify(await talk(process.env.URL ?? "", process.env.KEY ?? "")));
`;

/** Where each environment's own types of `fetch` and streams come from. */
const ENVIRONMENTS = [
  { name: "Node, nodenext", module: "nodenext", lib: ["es2022"], types: [join(ROOT, "node_modules", "@types", "node")] },
  { name: "a browser, bundler", module: "esnext", lib: ["es2022", "dom"], types: [] },
  { name: "Workers, bundler", module: "esnext", lib: ["es2022"], types: [join(ROOT, "node_modules", "@cloudflare", "workers-types")] },
];
const COMPILERS = [
  { name: "TypeScript 7", tsc: join(ROOT, "node_modules", "typescript", "bin", "tsc") },
  { name: "TypeScript 5", tsc: join(CLIENT, "node_modules", "typescript", "bin", "tsc") },
];

let project: string;
let packed: readonly string[];

/** Without what npm and Vitest say to their children. */
const environment = (more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|VITEST|VITE_|INIT_CWD|NODE_ENV|FORCE_COLOR)/.test(name))),
  NO_COLOR: "1",
  ...more,
});

function run(command: string, args: readonly string[], cwd: string, more: Readonly<Record<string, string>> = {}): string {
  const { status, stdout, stderr } = spawnSync(command, [...args], { cwd, encoding: "utf8", env: environment(more) });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed (${status}):\n${stdout}${stderr}`);
  return stdout;
}

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "longhand-consumer-"));
  // An empty cache: nothing can come from anywhere but the file.
  const offline = ["--offline", "--no-audit", "--no-fund", "--loglevel=error", "--cache", join(project, "cache")];
  const answer = run("npm", ["pack", "--json", "--pack-destination", project, ...offline], CLIENT);
  const [entry] = z
    .array(z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) }))
    .parse(JSON.parse(answer.slice(answer.search(/^\[/m))));
  packed = entry?.files.map(({ path }) => path) ?? [];
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  run("npm", ["install", join(project, entry?.filename ?? ""), ...offline], project);
  writeFileSync(join(project, "program.ts"), PROGRAM);
}, 2 * MINUTES);

afterAll(() => rmSync(project, { recursive: true, force: true }));

function compile(tsc: string, { module, lib, types }: (typeof ENVIRONMENTS)[number], file: string): string {
  const directory = mkdtempSync(join(project, "compile-"));
  const compilerOptions = {
    module,
    moduleResolution: module === "nodenext" ? "nodenext" : "bundler",
    ...{ target: "es2022", lib, types, strict: true, exactOptionalPropertyTypes: module === "nodenext", skipLibCheck: false, noEmit: true },
  };
  writeFileSync(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [join("..", file)] }));
  const { stdout, stderr } = spawnSync(process.execPath, [tsc, "-p", directory], { encoding: "utf8", env: environment() });
  return stdout + stderr;
}

describe("the package", () => {
  test("has the code in one file, its declarations, and what npm shows", () => {
    const declarations = packed.filter((path) => /^dist\/[\w-]+\.d\.ts$/.test(path));
    expect(declarations).toContain("dist/client.d.ts");
    expect(packed.filter((path) => !declarations.includes(path))).toEqual(["LICENSE", "README.md", "dist/client.js", "package.json"]);
    expect(readFileSync(join(CLIENT, "LICENSE"), "utf8")).toBe(readFileSync(join(ROOT, "LICENSE"), "utf8"));
  });

  test("needs no other package", () => {
    expect(readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["longhand"]);
    const installed = join(project, "node_modules", "longhand", "dist");
    const named = readdirSync(installed).flatMap((name) =>
      [...readFileSync(join(installed, name), "utf8").matchAll(/(?<!")\b(?:from|import\(|import) ?"([^"]+)"|<reference [^>]*>/g)].map(
        ([all, path]) => path ?? all,
      ),
    );
    expect(named.filter((path) => !/^\.\/[\w-]+\.js$/.test(path))).toEqual([]);
    expect(named.length).toBeGreaterThan(0);
  });

  test("has the version of the backend", () => {
    const read = (path: string) =>
      z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(path, "package.json"), "utf8"))).version;
    expect(read(CLIENT)).toBe(read(ROOT));
  });

  test("is smaller than 12 KB in an application, minified and with gzip", async () => {
    expect(gzipSync(await bundleClient()).length).toBeLessThan(MOST_BYTES);
  });
});

describe.each(COMPILERS)("$name compiles a project that uses it, and every declaration of it", ({ tsc }) => {
  test.each(ENVIRONMENTS)("for $name", { timeout: MINUTES }, (each) => {
    expect(compile(tsc, each, "program.ts")).toBe("");
  });
});

describe("against a backend", () => {
  let server: { readonly URL: string; readonly KEY: string };

  beforeAll(async () => {
    const { url, key } = await openTenant();
    server = { URL: url, KEY: key };
  }, 2 * MINUTES);

  test("a project's program runs on Node", { timeout: MINUTES }, () => {
    writeFileSync(join(project, "run.ts"), RUN);
    const said = JSON.parse(run(process.execPath, ["--disable-warning=ExperimentalWarning", "run.ts"], project, server));
    expect(said).toEqual(["completed", "user", "assistant", "invalid_request", "titel"]);
  });

  test("the README's programs compile and run", { timeout: MINUTES }, () => {
    const readme = readFileSync(join(CLIENT, "README.md"), "utf8");
    const blocks = [...readme.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block);
    const program = blocks
      .join("\n")
      .replace('"http://127.0.0.1:8787"', JSON.stringify(server.URL))
      .replace('"lh_…"', JSON.stringify(server.KEY));
    writeFileSync(join(project, "readme.ts"), program);
    const [compiler] = COMPILERS;
    const [node] = ENVIRONMENTS;
    expect(compiler && node && compile(compiler.tsc, node, "readme.ts")).toBe("");
    const said = run(process.execPath, ["--disable-warning=ExperimentalWarning", "readme.ts"], project);
    expect(said).toMatch(/^completed \S/);
    expect(said).toContain("name\nRex\n");
    expect(said).toContain("404 not_found");
  });
});
