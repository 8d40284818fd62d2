/** The deployed bundle, built as `wrangler deploy` builds it. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { runWrangler } from "../../scripts/support/wrangler";

const directory = mkdtempSync(join(tmpdir(), "longhand-bundle-"));
const SECONDS = 120_000;
/** Packages that the Worker never calls. ajv compiles with `new Function`, which workerd refuses. */
const LEFT_OUT = ["ajv", "ajv-formats", "fast-uri", "drizzle-kit", "fast-check", "vitest"];

let packages: ReadonlySet<string>;

beforeAll(async () => {
  const { code, output } = await runWrangler(["deploy", "--dry-run", "--outdir", directory, "--metafile", join(directory, "meta.json")]);
  if (code !== 0) throw new Error(output);
  const meta = z
    .object({ inputs: z.record(z.string(), z.unknown()) })
    .parse(JSON.parse(readFileSync(join(directory, "meta.json"), "utf8")));
  packages = new Set(Object.keys(meta.inputs).flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []));
}, SECONDS);

afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("the Worker has what it calls", () => {
  expect([...packages]).toEqual(expect.arrayContaining(["hono", "zod", "@modelcontextprotocol/sdk"]));
});

test("nothing that it never calls is in the Worker", () => {
  expect(LEFT_OUT.filter((name) => packages.has(name))).toEqual([]);
});
