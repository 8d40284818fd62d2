/** The page of Anthropic Messages lists every parameter of the request, and says which are refused. */
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
