/** A policy that uses notes instead of summaries: no model is called, and nothing has failed. */
import { describe, expect, test } from "vitest";
import { huge, nearlyFull } from "./filled";
import { CALLER, type Life } from "./life";
import { ask } from "./talk";

const NOTES = { preset: "oneclaw", summary: { form: "note" } } as const;

const readFrames = (life: Life): Record<string, unknown>[] => life.runtime.buffer.read(0, 1_000).map(({ json }) => JSON.parse(json));

describe("under a policy that asks for notes", () => {
  test("a turn that has no room for its next call leaves a note with counts, and asks no summariser", async () => {
    const life = await nearlyFull(NOTES);

    await life.send(huge("question-6"));

    expect(life.asked).toBe("tttttt");
    expect(life.call.request.system).toMatch(/\[Compacted \d+ messages: \d+ user, \d+ assistant\]/);
    expect(life.call.messages.at(-1)).toBe(`user: ${huge("question-6")}`);
    await life.answer("reply-6", 3_000);
    const told = readFrames(life).filter(({ type }) => type === "compaction.completed" || type === "notice");
    expect(told).toMatchObject([{ type: "compaction.completed", did_compact: true, failure: null }]);
    const listed = await life.service.compactions(CALLER, { after: null, limit: 10, order: "asc" });
    expect(listed).toMatchObject({
      value: { data: [{ status: "completed", did_compact: true, receipt: { model: null, usage: null, mode: null, dropped_items: 0 } }] },
    });
  });

  test("later notes take the place of earlier ones, and count what they stood for", async () => {
    const life = await nearlyFull(NOTES);
    for (let n = 6; n < 40; n++) {
      await life.send(huge(`question-${n}`));
      await life.answer(huge(`reply-${n}`), 5_000);
    }

    expect(life.asked).not.toContain("c");
    const { overlays, items } = life.runtime.state.view;
    expect(overlays.every(({ kind }) => kind === "summary")).toBe(true);
    const away = overlays.reduce((sum, overlay) => sum + overlay.items, 0);
    expect(away + items.length).toBe(life.runtime.state.next_position - 1);
    const notes = life.runtime.content.readSummaries();
    const counted = notes.flatMap((note) => [...note.matchAll(/\[Compacted (\d+) messages/g)]).map(([, count]) => Number(count));
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(away);
    expect(notes.length).toBeLessThanOrEqual(3);
  });

  test("by hand it is made without a model, and there is nothing to edit or to make anew", async () => {
    const life = await nearlyFull(NOTES);

    expect(await ask(life, { keepRecent: 1_000, draft: true })).toMatchObject({ kind: "plan", plan: { kind: "compact" } });
    expect(life.runtime.state.view).toMatchObject({ epoch: 0, overlays: [] });

    expect(await ask(life, { keepRecent: 1_000 })).toMatchObject({ kind: "done" });

    expect(life.asked).not.toContain("c");
    expect(life.runtime.state).toMatchObject({ view: { epoch: 1, overlays: [{ kind: "summary" }] }, compaction: { requested: null } });
    expect(await ask(life, { rebuild: true })).toMatchObject({ kind: "plan", plan: { kind: "none", reason: "not_by_policy" } });
  });
});
