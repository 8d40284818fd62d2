/** Compares the page of failed turns with the words that clients get. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeFailure } from "../src/app/turn/describe-failure";
import { turnFailureKind } from "../src/contract/model-call";

const page = readFileSync(join(import.meta.dirname, "..", "docs", "failed-turns.md"), "utf8");

describe("the page of failed turns", () => {
  test.each(turnFailureKind.options)("has the words of %s", (kind) => {
    const { detail, remedy } = describeFailure({ kind, status: 400 });
    expect(page).toContain(`| \`${kind}\` | ${detail} | ${remedy} |`);
  });

  test("has no other class", () => {
    const named = [...page.matchAll(/^\| `([a-z_]+)` \| [A-Z]/gm)].map(([, kind]) => kind);
    expect(named).toEqual(turnFailureKind.options);
  });

  test("tells to retry only where the same request may succeed, or something else is named that must change before", () => {
    const bare = turnFailureKind.options.filter((kind) => describeFailure({ kind, status: 400 }).remedy === "Retry the turn.");
    expect(bare).toEqual(["rate_limit", "unavailable", "timeout", "aborted", "crashed", "internal"]);
  });
});
