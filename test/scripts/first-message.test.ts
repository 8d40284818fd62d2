/** `docs/admins.md` leads a new tenant to its first message. `doc-runs` runs the commands of the page. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const PAGE = readFileSync(join(import.meta.dirname, "..", "..", "docs", "admins.md"), "utf8");

it("a new tenant comes to its first message in three commands: a tenant, its key, a message", () => {
  const block = /## A new tenant\n[^`]*```sh\n([^`]*)```/.exec(PAGE)?.[1] ?? "";

  expect(block.trim().split("\n")).toEqual([
    expect.stringMatching(/\$URL\/v1\/admin\/tenants -d/),
    expect.stringMatching(/\$URL\/v1\/admin\/tenants\/\$TENANT\/keys -d/),
    expect.stringMatching(/\$URL\/v1\/responses .*"input"/),
  ]);
});
