/** The table of parameters in docs/clients/openai-responses.md, against the schema and OpenAI's own types. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { responseInput } from "../../../src/http/openai/responses/input";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const page = readFileSync(join(ROOT, "docs/clients/openai-responses.md"), "utf8");
const section = page.slice(page.indexOf("\n## Parameters"), page.indexOf("\n## Items"));
const rows = [...section.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, name = "", text = ""]) => [name, text]);

it("says of each parameter what the schema says", () => {
  expect(rows).toEqual(Object.entries(responseInput.shape).map(([name, schema]) => [name, schema.description]));
});

it.each(["openai", "openai-v6", "openai-v5"])("has every parameter that %s knows", (name) => {
  const types = readFileSync(join(ROOT, "node_modules", name, "resources/responses/responses.d.ts"), "utf8");
  const start = types.indexOf("export interface ResponseCreateParamsBase");
  const known = [...types.slice(start, types.indexOf("\nexport ", start + 1)).matchAll(/^ {4}(\w+)\??:/gm)].map(([, field]) => field);

  expect(known).toContain("input");
  expect(known.filter((field) => !rows.some(([listed]) => listed === field))).toEqual([]);
});
