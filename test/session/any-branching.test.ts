/**
 * After any sequence of operations, every branch's view is well-formed: nothing is hidden without an overlay, nothing
 * of another branch is read, no call is without its result, and redacted content exists nowhere.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findMalformed } from "../../scripts/lab/engine/check-request";
import { copySession } from "../../src/app/branch/copy-session";
import { buildView } from "../../src/context/view";
import { isAmong } from "../../src/domain/branch";
import { fold } from "../../src/domain/evolve";
import { toWeighedView as weighed } from "../../src/domain/view";
import { itemsAt } from "../../src/session/log/session-past";
import { id, SESSION, TENANT } from "../support/builders";
import { drawn } from "../support/effort";
import { CALLER, Life } from "./life";
import { policies } from "./script";
import { acts, keyless, Story } from "./story";
import { buildRequestText, newLife, ROOMY } from "./talk";

/** The invariants of the current branch. */
function check({ life }: Story): void {
  const { state, content } = life.runtime;
  const { view, branch, next_position } = state;
  expect(findMalformed(buildView({ ...content.readView(), model: ROOMY.id }))).toBeNull();
  const shown = view.items.map(({ position }) => position);
  expect(shown).toEqual([...new Set(shown)].sort((one, other) => one - other));
  expect(shown.filter((position) => isAmong(branch.elsewhere, position) || position >= next_position)).toEqual([]);
  // By their ends: a range that a summary left in the view is part of the next one's range, or was trimmed inside its
  // own.
  const ends = view.overlays.map(({ from, to }): [number, number] => [to, -from]);
  expect(ends).toEqual(ends.toSorted(([to, from], [otherTo, otherFrom]) => to - otherTo || from - otherFrom));
  for (const overlay of view.overlays) {
    expect(isAmong(branch.elsewhere, overlay.to) && overlay.kind === "summary").toBe(false);
  }
  const covered = (position: number): boolean => view.overlays.some(({ from, to }) => position >= from && position <= to);
  const all = itemsAt(life.sql, [{ from: 1, to: next_position }], branch.taken_back);
  const hidden = all.filter(({ position }) => !isAmong(branch.elsewhere, position) && !shown.includes(position) && !covered(position));
  expect(hidden).toEqual([]);
  expect(weighed(view)).toEqual(view);
  expect(state.messages).toBe(countOnBranch(life));
}

const countOnBranch = ({ runtime, sql }: Life): number => {
  const { branch, next_position } = runtime.state;
  const rows = sql.all<{ position: number; kind: string }>("SELECT position, json_extract(meta, '$.kind') AS kind FROM items");
  const said = rows.filter(
    ({ position, kind }) => position < next_position && !isAmong(branch.elsewhere, position) && !kind.startsWith("tool_"),
  );
  return said.length;
};

/** Switches to every branch, checks it, and restores the branch from before. */
async function walkBranches(story: Story): Promise<void> {
  const { life } = story;
  const { number, count } = life.runtime.state.branch;
  const before = buildRequestText(life);
  for (let branch = 1; branch <= count; branch++) {
    const chosen = await life.service.switchBranch(CALLER, { branch, ...keyless });
    expect(chosen).toMatchObject({ ok: true });
    check(story);
    for (const said of story.redacted) expect(buildRequestText(life)).not.toContain(said);
  }
  await life.service.switchBranch(CALLER, { branch: number, ...keyless });
  expect(buildRequestText(life)).toBe(before);
}

async function checkFork({ life }: Story): Promise<void> {
  const into = new Life(undefined, "fork-1");
  into.models = { resolve: async () => ROOMY };
  const to = id("ses", 77);
  const [source, target] = [life.service, into.service];
  const outcome = await copySession({
    hold: async () => true,
    source: (work) => work(source, CALLER),
    target: (work) => work(target, { tenant: TENANT, session: to }),
    from: SESSION,
    to,
    at: null,
    title: null,
  });
  expect(outcome).toMatchObject({ ok: true });
  const renamed = (request: string): string =>
    request
      .replaceAll(to, SESSION)
      .replace(/exe_[0-9A-Z]{26}/g, "exe")
      .replace(/from \d+ and to \d+ has all/g, "has all");
  expect(renamed(buildRequestText(into))).toBe(renamed(buildRequestText(life)));
  expect(into.runtime.state).toEqual(fold(into.events()));
}

/** Operations that all stories together performed at least once. */
const tried = new Map<string, number>();

describe("any sequence of rewind, edit, switch, fork, revert, reset, pin, redact and compact", () => {
  test.each(policies)("leaves every branch's view well-formed: %s", { timeout: 120_000 }, async (policy) => {
    await fc.assert(
      fc.asyncProperty(acts, async (script) => {
        const story = new Story(await newLife({ policy }));
        for (const [n, act] of script.entries()) {
          await story.do(act, n);
          check(story);
        }
        expect(story.life.runtime.state).toEqual(fold(story.life.events()));
        await walkBranches(story);
        await checkFork(story);
        for (const [kind, times] of story.tried) tried.set(kind, (tried.get(kind) ?? 0) + times);
      }),
      { numRuns: drawn(60, 20) },
    );
  });

  test("has each of them in it", () => {
    const missing = ["rewind", "switch", "edit", "regenerate", "redact", "pin", "revert"].filter((kind) => !tried.has(kind));
    expect(missing).toEqual([]);
  });
});
