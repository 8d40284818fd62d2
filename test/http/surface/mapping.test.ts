/**
 * The table of docs/clients.md, row by row and surface by surface: each thing is made in a session of its own through that surface, and
 * what went over the wire must show it in the form that the cell names.
 */
import { describe, expect, test } from "vitest";
import { failure, settle } from "../../session/life";
import { readPages } from "../../support/doc-pages";
import { call, finish, type Reply, SharedApp, Stage, SURFACES, type Surface, text } from "./exhibits";

/** What is looked for in what went over the wire. */
const WORD = "Zephyrine";
const PICTURE = "https://example.com/zephyrine.png";
const TOKENS = 4321;
const REDACTED = "[redacted]";

interface Row {
  readonly needle: string | number;
  make(stage: Stage): Promise<void>;
}

/** The model answers a question by these replies. */
const replies = (...planned: readonly Reply[]): Row => ({
  needle: WORD,
  async make(stage) {
    stage.plan(...planned);
    await stage.say("?");
  },
});

const result = (failed: boolean): Row => ({
  needle: WORD,
  async make(stage) {
    stage.plan([call("?"), finish("tool_calls")]);
    await stage.say("?");
    await stage.giveResult(WORD, failed);
  },
});

const LONG = "Once upon a time. ".repeat(60);

const ROWS: Readonly<Record<string, Row>> = {
  "message of a user": { needle: WORD, make: (stage) => stage.say(WORD) },
  "image in it": { needle: PICTURE, make: (stage) => stage.say("?", PICTURE) },
  "system message": {
    needle: WORD,
    async make(stage) {
      await stage.native("POST", "/messages", { role: "system", content: WORD, run: false });
      await stage.say("?");
    },
  },
  "text of a reply": replies([text(WORD), finish()]),
  "reasoning of a reply": replies([{ type: "reasoning", text: WORD }, text("!"), finish()]),
  "call that the client runs": replies([call(WORD), finish("tool_calls")]),
  "its result": result(false),
  "its result, if the tool failed": result(true),
  "result of a call that the server ran": {
    needle: WORD,
    async make(stage) {
      await stage.serveTool(WORD);
      await replies([call("?"), finish("tool_calls")], [text("!"), finish()]).make(stage);
    },
  },
  "call that waits for an approval": {
    needle: WORD,
    async make(stage) {
      await stage.serveTool("!", true);
      await replies([call(WORD), finish("tool_calls")]).make(stage);
    },
  },
  "call that a person refused": {
    needle: WORD,
    async make(stage) {
      await stage.serveTool("!", true);
      await replies([call(WORD), finish("tool_calls")], [text("!"), finish()]).make(stage);
      stage.forget();
      const { turn } = await stage.native("GET");
      await stage.native("POST", "/approvals", { approvals: [{ execution_id: turn.open_calls[0].id, approved: false }] });
    },
  },
  "turn that was stopped": {
    needle: WORD,
    async make(stage) {
      stage.plan([text(WORD), "hold"]);
      const said = stage.say("?");
      for (let nth = 0; (await stage.native("GET")).turn === null && nth < 100; nth++) await settle();
      await stage.native("POST", "/stop");
      await said;
    },
  },
  "turn that failed": replies([text(WORD), failure("quota")]),
  "reply that reached its limit": replies([text(WORD), finish("length")]),
  "reply that the provider filtered": replies([text(WORD), finish("content_filter")]),
  usage: { needle: TOKENS, make: (stage) => stage.say("?") },
  "redacted message": {
    needle: REDACTED,
    async make(stage) {
      await replies([text(WORD), finish()]).make(stage);
      stage.forget();
      const { data } = await stage.native("GET", "/messages");
      await stage.native("POST", `/messages/${data[1].id}/redact`);
    },
  },
  "message of another branch": {
    needle: WORD,
    async make(stage) {
      await stage.say(WORD);
      const { data } = await stage.native("GET", "/messages");
      await stage.native("POST", `/messages/${data[0].id}/edit`, { content: "Something else" });
      stage.forget();
      await stage.say("?");
    },
  },
  compaction: {
    needle: "## Part 3",
    async make(stage) {
      for (const words of [LONG, LONG]) await stage.say(words);
      stage.forget();
      await stage.compact(() => (stage.surface === "AI SDK" ? stage.say("?") : Promise.resolve()));
      await stage.say("?");
    },
  },
  "compaction that a response asked for": {
    needle: "## Part 3",
    async make(stage) {
      for (const words of [LONG, LONG]) await stage.say(words);
      stage.forget();
      await stage.respondCompacted("?");
    },
  },
};

const page = readPages().find(({ path }) => path === "docs/clients.md")?.text ?? "";
const [, section = ""] = /\n## What each surface shows\n([\s\S]*?)(?:\n## |$)/.exec(page) ?? [];
const [head = [], ...body] = [...section.matchAll(/^\| (.+) \|$/gm)].map(([, cells = ""]) => cells.split(" | "));
const TABLE = new Map(body.map(([name = "", ...cells]) => [name, cells]));

/** Keys, and keys with their values, of everything on the way to a place. */
type Signs = ReadonlySet<string>;

const isScalar = (value: unknown): value is string | number | boolean => ["string", "number", "boolean"].includes(typeof value);

function readJson(written: string): object | null {
  try {
    const value: unknown = JSON.parse(written);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

/** The signs on the way to each place that has the needle. Null: any place. */
function find(value: unknown, needle: string | number | null, way: Signs = new Set()): readonly Signs[] {
  const inner = typeof value === "string" ? readJson(value) : value;
  if (inner === null || typeof inner !== "object") {
    const isFound = needle === null || value === needle || (typeof value === "string" && value.includes(String(needle)));
    return isFound && value !== null ? [way] : [];
  }
  if (Array.isArray(inner)) return inner.flatMap((each) => find(each, needle, way));
  const entries = Object.entries(inner);
  const own = entries.flatMap(([key, each]) => (isScalar(each) ? [`${key}: ${each}`.toLowerCase()] : []));
  return entries.flatMap(([key, each]) => find(each, needle, new Set([...way, ...own, key.toLowerCase()])));
}

/** A code word of a cell is a key, a key with its value, or the value of a `type`. */
const has = (signs: Signs, word: string): boolean => [word, `type: ${word}`].some((sign) => signs.has(sign.toLowerCase()));

function check(cell: string, record: readonly unknown[], { needle }: Row): void {
  const words = [...cell.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);
  const isLeftOut = cell.startsWith("left out");
  expect(isLeftOut || words.length > 0, `the cell "${cell}" names no form`).toBe(true);
  const found = find(record, needle);
  if (isLeftOut) expect(found.map((signs) => [...signs])).toEqual([]);
  const places = isLeftOut ? find(record, null) : found;
  expect(record).not.toEqual([]);
  expect(places.length, "nothing shows it").toBeGreaterThan(0);
  for (const word of words)
    expect(
      places.some((signs) => has(signs, word)),
      `${word} in ${JSON.stringify(places.map((signs) => [...signs]))}`,
    ).toBe(true);
  // All of them belong to one place, where there is one.
  if (!isLeftOut && cell.includes("`")) expect(places.some((signs) => words.every((word) => has(signs, word)))).toBe(true);
}

test("the table has each row and surface that is checked, and no other", () => {
  expect(head.slice(1)).toEqual(SURFACES);
  expect([...TABLE.keys()]).toEqual(Object.keys(ROWS));
  for (const cells of TABLE.values()) expect(cells).toHaveLength(SURFACES.length);
});

const shared = new SharedApp();

describe.each(Object.entries(ROWS))("%s", (name, row) => {
  test.each(SURFACES)("is shown by %s as the table says", async (surface: Surface) => {
    const stage = new Stage(surface, shared);
    await stage.open();
    await row.make(stage);
    await stage.list();
    check(TABLE.get(name)?.[SURFACES.indexOf(surface)] ?? "", stage.record, row);
  });
});
