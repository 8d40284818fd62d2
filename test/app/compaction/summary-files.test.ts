/** The part of the record that is read for the file lists under a summary: only new items, and of those only the calls. */
import { expect, test } from "vitest";
import { collectTouchedFiles } from "../../../src/app/compaction/note-change";
import type { SessionContent } from "../../../src/app/session-ports";
import { withFileOps } from "../../../src/context/file-ops";
import type { Overlay } from "../../../src/domain/compaction-events";
import type { ItemMeta, Part } from "../../../src/domain/message";
import { toWeighedView } from "../../../src/domain/view";
import { call, id, item, summaryPlan, viewing } from "../../support/builders";

const tool = (position: number, name: string): ItemMeta => {
  const meta = call(position, position);
  return meta.tool ? { ...meta, tool: { ...meta.tool, name } } : meta;
};

/** Every third item is a call that writes a file, and every third a call that looks something up. */
const record = (length: number): ItemMeta[] =>
  Array.from({ length }, (_, index) => {
    const position = index + 1;
    if (position % 3 === 0) return tool(position, "write_file");
    return position % 3 === 1 ? tool(position, "look") : item(position, "user");
  });

const callIn = (meta: ItemMeta): Part[] => [
  { type: "tool_call", call_id: `c${meta.position}`, name: meta.tool?.name ?? "", arguments: `{"path":"f${meta.position}"}` },
];

function reading(items: readonly ItemMeta[], lists: Readonly<Record<string, string>>) {
  /** `bodies`: positions whose content was read. `metas`: items whose metadata was read. */
  const read: { readonly bodies: number[]; metas: number } = { bodies: [], metas: 0 };
  function* entries(from: number, to: number, isWanted: (meta: ItemMeta) => boolean) {
    for (const meta of items.filter(({ position }) => from <= position && position <= to)) {
      read.metas += 1;
      if (!isWanted(meta)) continue;
      read.bodies.push(meta.position);
      yield { meta, parts: callIn(meta) };
    }
  }
  const content: SessionContent = {
    readView: () => {
      throw new Error("the record is read, not the view");
    },
    readParts: () => [],
    readGeneration: () => ({}),
    readTools: () => [],
    readSummaries: () => [],
    readForwards: ({ from, to }) => entries(from, to, () => true),
    readBackwards: ({ from, to }, isWanted = () => true) => [...entries(from, to, isWanted)].reverse(),
    readCacheKey: () => null,
    readText: (body) => lists[body] ?? null,
  };
  return { read, content };
}

const summary = (n: number, from: number, to: number): Overlay => ({
  id: id("ovl", n),
  kind: "summary",
  from,
  to,
  items: to - from + 1,
  tokens: 10,
  boundary_timestamp: 0,
  generation: 8,
});

const overlaid = (items: readonly ItemMeta[], overlays: readonly Overlay[]) => {
  const state = viewing(items);
  return { ...state, view: toWeighedView({ ...state.view, overlays }) };
};

test("a summary that is made anew from the record takes the files of the earlier ones from their lists, and reads only what they have not", () => {
  const items = record(3_000);
  const replaces = [id("ovl", 1), id("ovl", 2)];
  const state = overlaid(items.slice(2_991), [summary(1, 1, 2_000), summary(2, 2_001, 2_991)]);
  const lists = {
    [id("ovl", 1)]: withFileOps("First.", { read: ["old", "f2997"], modified: [] }),
    [id("ovl", 2)]: withFileOps("Second.", { read: [], modified: ["f2991"] }),
  };
  const { read, content } = reading(items, lists);

  const files = collectTouchedFiles(summaryPlan(1, 3_000, { replaces }), state, content);

  expect(files).toEqual({ read: ["old"], modified: ["f2991", "f2994", "f2997", "f3000"] });
  expect(read.bodies).toEqual([2_994, 2_997, 3_000]);
  expect(read.metas).toBeLessThan(10);
});

test("what was only trimmed has been read by none, and its files are found", () => {
  const items = record(12);
  const dropped: Overlay = { id: id("ovl", 2), kind: "dropped", from: 4, to: 6, items: 3, tokens: 0 };
  const state = overlaid(items.slice(6), [summary(1, 1, 3), dropped]);
  const { content } = reading(items, {});

  const files = collectTouchedFiles(summaryPlan(4, 9, { replaces: [id("ovl", 2)] }), state, content);

  expect(files).toEqual({ read: [], modified: ["f6", "f9"] });
});

test("however much was trimmed, what is looked at is bounded, the newest first", () => {
  const items = record(9_000);
  const dropped: Overlay = { id: id("ovl", 1), kind: "dropped", from: 1, to: 8_997, items: 8_997, tokens: 0 };
  const { read, content } = reading(items, {});

  const files = collectTouchedFiles(summaryPlan(1, 9_000, { replaces: [dropped.id] }), overlaid(items.slice(8_997), [dropped]), content);

  expect(files.modified).toHaveLength(100);
  expect(files.modified.at(-1)).toBe("f9000");
  expect(read.metas).toBeLessThan(5_000);
});
