/** The page of Anthropic Messages lists every parameter of the request, and says which are refused. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { messageBody } from "../../../src/http/anthropic/request-body";
import { readPages } from "../../support/doc-pages";

const page = readPages().find(({ path }) => path === "docs/clients/anthropic.md");
const [, table = ""] = /## Parameters\n([\s\S]*?)\n## /.exec(page?.text ?? "") ?? [];
const rows = [...table.matchAll(/^\| (`.+?) \| (.+) \|$/gm)].map(([, names = "", meaning = ""]) => ({
  names: [...names.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
  isRefused: /^refused\b/.test(meaning),
}));
const listed = rows.flatMap(({ names, isRefused }) => names.map((name) => ({ name, isRefused })));

const valid = { model: "m", max_tokens: 10, messages: [{ role: "user", content: "Hi" }] };

const SDK = join(import.meta.dirname, "../../../node_modules/@anthropic-ai/sdk/resources");

/** The parameters that the SDK's types offer for a message, and which of them it sends as headers. */
function readOffered(file: string): readonly { readonly name: string; readonly isHeader: boolean }[] {
  const [, fields = ""] = /export interface MessageCreateParamsBase \{([\s\S]*?)\n\}/.exec(readFileSync(join(SDK, file), "utf8")) ?? [];
  return [...fields.matchAll(/\/\*\*([\s\S]*?)\*\/\s+(\w+)\??:/g)].map(([, comment = "", name = ""]) => ({
    name,
    isHeader: comment.includes("Header param:"),
  }));
}

describe("the SDK's own types", () => {
  test.each(["messages/messages.d.ts", "beta/messages/messages.d.ts"])("of %s offer nothing that the page does not list", (file) => {
    const offered = readOffered(file);
    expect(offered.length).toBeGreaterThan(15);
    const listedNames = new Set(listed.map(({ name }) => name));
    expect(offered.filter(({ name, isHeader }) => !isHeader && !listedNames.has(name))).toEqual([]);
    expect(offered.filter(({ name, isHeader }) => isHeader && !page?.text.includes(`\`${name}\``))).toEqual([]);
  });
});

describe("the table of parameters", () => {
  test("has each parameter of the schema once", () => {
    expect(listed.map(({ name }) => name).toSorted()).toEqual(Object.keys(messageBody.shape).toSorted());
  });

  test.each(listed)("says whether $name is refused: $isRefused", ({ name, isRefused }) => {
    // No parameter takes an object of this form, so that only a refusal of any value says why.
    const parsed = messageBody.safeParse({ ...valid, [name]: { unheard_of: true } });
    const says = parsed.success ? [] : parsed.error.issues.filter(({ message }) => message.startsWith("not supported"));
    expect(says.length > 0).toBe(isRefused);
  });
});
