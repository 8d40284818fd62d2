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
import type { ItemMeta } from "../../src/domain/message";
import { toWeighedView as weighed } from "../../src/domain/view";
import { itemsAt } from "../../src/session/log/session-past";
import { id, SESSION, TENANT } from "../support/builders";
import { CALLER, Life, settle } from "./life";
import { hear, policies, type Step, text } from "./script";
import { buildRequestText, compact, newest, newLife, ROOMY, revert, trim } from "./talk";

const keyless = { idempotency: null } as const;

type Kind = Step["kind"] | "rewind" | "switch" | "edit" | "regenerate" | "redact" | "pin" | "reset";

interface Act {
  readonly kind: Kind;
  readonly size: number;
}

const acts = fc.array(
  fc.record<Act>({
    kind: fc.constantFrom<Kind>(
      ...([
        "say",
        "say",
        "say",
        "tools",
        "cut_off",
        "retry",
        "append",
        "compact",
        "compact",
        "compact",
        "trim",
        "revert",
        "revert",
      ] as const),
      ...(["rewind", "rewind", "switch", "switch", "edit", "regenerate", "redact", "pin", "reset"] as const),
    ),
    size: fc.integer({ min: 1, max: 120 }),
  }),
  { minLength: 4, maxLength: 22 },
);

class Story {
  readonly redacted: string[] = [];
  readonly tried = new Map<string, number>();

  readonly life: Life;

  constructor(life: Life) {
    this.life = life;
  }

  get items(): ItemMeta[] {
    const { state } = this.life.runtime;
    return itemsAt(this.life.sql, [{ from: 1, to: state.next_position }], state.branch.taken_back).filter(
      ({ position }) => !isAmong(state.branch.elsewhere, position),
    );
  }

  #note(kind: string, done: boolean): void {
    if (done) this.tried.set(kind, (this.tried.get(kind) ?? 0) + 1);
  }

  async do({ kind, size }: Act, n: number): Promise<void> {
    const { life } = this;
    const { service } = life;
    const { state } = life.runtime;
    switch (kind) {
      case "compact":
        return compact(life, size);
      case "trim":
        return trim(life);
      case "revert":
        if (newest(life)) this.#note("revert", (await revert(life)).ok);
        return;
      case "reset":
        return this.#note("reset", (await service.resetSummary(CALLER)).ok);
      case "pin":
        return this.#note("pin", (await service.setPins(CALLER, [`pin ${n}`])).ok);
      case "rewind":
        this.#note("rewind", (await service.rewind(CALLER, { to: size % state.next_position, ...keyless })).ok);
        return settle();
      case "switch":
        this.#note("switch", (await service.switchBranch(CALLER, { branch: 1 + (size % state.branch.count), ...keyless })).ok);
        return settle();
      case "edit":
      case "regenerate":
        return this.#again(kind, size, n);
      case "redact":
        return this.#redact(size);
      default:
        return hear(life, { kind, size }, n);
    }
  }

  async #again(kind: "edit" | "regenerate", size: number, n: number): Promise<void> {
    const asked = this.items.filter((item) => item.kind === "user");
    const message = asked[size % Math.max(1, asked.length)]?.id;
    if (!message) return;
    const { service } = this.life;
    const parts = [{ type: "text", text: text(`edited ${n}`, size) }] as const;
    const done =
      kind === "edit"
        ? await service.editMessage(CALLER, { message, parts, tools: null, ...keyless })
        : await service.regenerate(CALLER, { message, ...keyless });
    await settle();
    if (done.ok) await this.life.answer(`again ${n}`);
    this.#note(kind, done.ok);
  }

  async #redact(size: number): Promise<void> {
    const { items } = this;
    const item = items[size % Math.max(1, items.length)];
    if (!item) return;
    const parts = this.life.runtime.content.readParts(item);
    const [said] = parts.flatMap((part) => (part.type === "text" ? (/^(question|reply|edited|note) \d+ /.exec(part.text) ?? []) : []));
    const done = await this.life.service.redact(CALLER, item.id, size % 2 === 0 ? {} : { takesBack: true });
    await settle();
    if (done.ok && said?.includes(" ")) this.redacted.push(said);
    this.#note("redact", done.ok);
  }
}

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
  expect(into.runtime.committed).toEqual(fold(into.events()));
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
        expect(story.life.runtime.committed).toEqual(fold(story.life.events()));
        await walkBranches(story);
        await checkFork(story);
        for (const [kind, times] of story.tried) tried.set(kind, (tried.get(kind) ?? 0) + times);
      }),
      { numRuns: 60 },
    );
  });

  test("has each of them in it", () => {
    const missing = ["rewind", "switch", "edit", "regenerate", "redact", "pin", "revert"].filter((kind) => !tried.has(kind));
    expect(missing).toEqual([]);
  });
});
