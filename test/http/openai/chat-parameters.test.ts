/** The table of parameters in docs/clients/openai-chat.md, against the schema and OpenAI's own types. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { completionInput } from "../../../src/http/openai/chat/input";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const page = readFileSync(join(ROOT, "docs/clients/openai-chat.md"), "utf8");
const rows = [...page.slice(page.indexOf("\n## Parameters")).matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, name = "", text = ""]) => [
  name,
  text,
]);

it("says of each parameter what the schema says", () => {
  expect(rows).toEqual(Object.entries(completionInput.shape).map(([name, schema]) => [name, schema.description]));
});

it("has every parameter that OpenAI's package knows", () => {
  const types = readFileSync(join(ROOT, "node_modules/openai/resources/chat/completions/completions.d.ts"), "utf8");
  const start = types.indexOf("export interface ChatCompletionCreateParamsBase");
  const known = [...types.slice(start, types.indexOf("\nexport ", start + 1)).matchAll(/^ {4}(\w+)\??:/gm)].map(([, name]) => name);

  expect(known).toContain("messages");
  expect(known.filter((name) => !rows.some(([listed]) => listed === name))).toEqual([]);
});
