/** An export with one field changed, its digests made anew, is refused, or restores a session that every route answers. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ChatModel } from "../../src/app/ports";
import type { Caller } from "../../src/app/session-api";
import { ImportFault } from "../../src/app/transfer/read-export";
import { toPolicyText } from "../../src/context/policy-choice";
import type { SessionId } from "../../src/domain/ids";
import type { ToolDefinition } from "../../src/domain/message";
import type { ReadModelEnv } from "../../src/read-model/database-for";
import { createSessionList } from "../../src/read-model/queries";
import { createSessionSearch } from "../../src/read-model/session-search";
import { createProjection } from "../../src/read-model/writer";
import { KEY, listRoutes, type RouteEntry, sampleBody, sampleQuery, TENANT, world } from "../http/support";
import { SimD1 } from "../simulation/sim-d1";
import { drawn } from "../support/effort";
import { exportSession, importInto, newTarget, sealed, text } from "./exported";
import { CALLER, Life, MESSAGE, SPEC, settle } from "./life";
import { Story } from "./story";
import { append, ask, compact, cutOff, newest, ROOMY, retry, revert, say, trim, useTools, work } from "./talk";

const tools: readonly ToolDefinition[] = [
  { name: "look", description: "Looks", parameters: { type: "object", properties: {} } },
  { name: "pay", parameters: { type: "object" }, runs: { by: "http", tool: "pay" }, needs_approval: true },
];

/** A session with events of nearly every type, and texts of every role. */
async function richLife(): Promise<Life> {
  const life = new Life();
  life.models = { resolve: async () => ROOMY };
  await life.service.open(CALLER, {
    model: SPEC.id,
    policy: toPolicyText({ preset: "oneclaw", summary: { instructions: "Keep the numbers." } }),
    system: "Be brief.",
    tools,
    title: "A title",
    metadata: { colour: "red" },
    external_id: "ticket-1",
    end_user: "ada",
    summaryInstructions: "Mention names.",
    generation: { temperature: 0.5 },
  });
  await settle();
  await say(life, `question ${"lorem ipsum ".repeat(80)}`, "An answer");
  await useTools(life, "look", ["found ".repeat(50), "other"]);
  await cutOff(life, "tell", "I think");
  await retry(life, "a whole answer");
  await append(life, "system", [{ type: "text", text: "A note" }]);
  await append(life, "user", [
    { type: "text", text: "See" },
    { type: "image", url: "https://example.org/a.png", media_type: "image/png", name: "a.png" },
  ]);
  await life.service.importMessages(CALLER, {
    messages: [
      {
        role: "user",
        parts: [{ type: "text", text: "Before" }],
        about: { name: "Ada", client_id: "c-1", metadata: { a: "b" }, said_at: 5 },
      },
      {
        role: "assistant",
        parts: [{ type: "text", text: "Calls" }],
        calls: [{ call_id: "old", name: "look", arguments: "{}" }],
        about: {},
      },
      { role: "tool", call_id: "old", output: "42", is_error: false, about: {} },
    ],
    idempotency: null,
  });
  await life.service.setPins(CALLER, ["The user's name is Ada."]);
  await compact(life, 30);
  trim(life);
  if (newest(life)) await revert(life);
  await compact(life, 60);
  await life.service.rewind(CALLER, { to: 4, idempotency: null });
  await say(life, "another way", "indeed");
  await life.service.switchBranch(CALLER, { branch: 1, idempotency: null });
  const [first] = new Story(life).items.filter(({ kind }) => kind === "user").slice(-1);
  if (first) await life.service.redact(CALLER, first.id);
  await ask(life, { draft: true, keepRecent: 10 });
  await work(life);
  await life.service.setSchedule(CALLER, { name: "briefing", message: "Brief me.", time: { cron: "0 9 * * *", timezone: "UTC" } });
  await life.service.archive(CALLER);
  await life.service.unarchive(CALLER);
  await life.service.patch(CALLER, { title: "Another title" });
  await life.service.submit(CALLER, { ...MESSAGE, generation: { seed: 4 }, note: "mine" });
  await settle();
  life.calls
    .at(-1)
    ?.say(
      { type: "tool_call", call: { type: "tool_call", call_id: "p1", name: "pay", arguments: "{}" } },
      { type: "tool_call", call: { type: "tool_call", call_id: "p2", name: "look", arguments: "{}" } },
      { type: "finish", finish: "tool_calls", usage: { input: 100, output: 5, cached: 0, reasoning: 0 } },
    );
  await settle();
  await life.service.submit(CALLER, { ...MESSAGE, system: "Be long.", model: "other" });
  await settle();
  return life;
}

/** The lines of an export without its end. */
const exportLines = async (life: Life, caller: Caller): Promise<string[]> =>
  text(await exportSession(life, caller))
    .trim()
    .split("\n")
    .slice(0, -1);

const ANSWERS: ChatModel = {
  async *stream() {
    yield { type: "text", text: "Good." };
    yield { type: "finish", finish: "stop", usage: { input: 100, output: 5, cached: 0, reasoning: 0 } };
  },
  render: async () => ({ url: "", body: "body" }),
};

/** What the API serves now. The app is made once, which takes longer than a hundred requests. */
const served: { session: SessionId; target: Life; lists: ReadModelEnv; readonly copies: Map<SessionId, Life> } = {
  session: CALLER.session,
  target: newTarget(),
  lists: { DB: new SimD1().direct },
  copies: new Map(),
};

const { app, log } = world({
  deps: {
    sessions: (_, id) => {
      const copy = id === served.session ? served.target : (served.copies.get(id) ?? newTarget());
      if (copy !== served.target) served.copies.set(id, copy);
      return copy.service;
    },
    sessionList: {
      listSessions: (...asked) => createSessionList(served.lists).listSessions(...asked),
      isListed: (...asked) => createSessionList(served.lists).isListed(...asked),
    },
    sessionSearch: { searchSessions: (...asked) => createSessionSearch(served.lists).searchSessions(...asked) },
  },
});

/** Serves the session, and the copies that are made of it. */
function serve(session: SessionId, target: Life) {
  const { direct } = new SimD1();
  Object.assign(served, { session, target, lists: { DB: direct } });
  served.copies.clear();
  log.length = 0;
  target.chat = ANSWERS;
  target.projection = createProjection(direct);
  target.runtime.drain.start();
  const ask = async (method: string, path: string, body?: unknown): Promise<number> => {
    const headers = { authorization: `Bearer ${KEY}`, ...(body !== undefined && { "content-type": "application/json" }) };
    const answer = await app.request(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
    const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream");
    await (isStream ? answer.body?.cancel() : answer.text());
    await settle();
    return answer.status;
  };
  return ask;
}

async function makeCopy(life: Life): Promise<{ readonly session: SessionId; readonly lines: readonly string[] }> {
  const source = newTarget();
  await importInto(source, TENANT, await sealed(await exportLines(life, CALLER)));
  const ask = serve(CALLER.session, source);
  expect(await ask("POST", `/v1/sessions/${CALLER.session}/fork`, {})).toBe(201);
  const [[session, copy] = []] = served.copies;
  if (!session || !copy) throw new Error("nothing was copied");
  return { session, lines: await exportLines(copy, { tenant: TENANT, session }) };
}

type Path = readonly (string | number)[];
type Fields = Record<string | number, unknown>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

/** Every place within the value. */
function* listPlaces(value: unknown, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path;
  if (!isFields(value)) return;
  for (const key of Object.keys(value)) yield* listPlaces(value[key], [...path, Array.isArray(value) ? Number(key) : key]);
}

/** The value with another one at the place. Undefined: without it. */
function changeAt(value: unknown, [key, ...rest]: Path, to: (old: unknown) => unknown): unknown {
  if (key === undefined) return to(value);
  if (!isFields(value)) return value;
  const changed = changeAt(value[key], rest, to);
  if (Array.isArray(value)) return changed === undefined ? value.toSpliced(Number(key), 1) : value.with(Number(key), changed);
  const { [key]: _, ...others } = value;
  return changed === undefined ? others : { ...value, [key]: changed };
}

const STRANGE: Readonly<Record<string, (old: unknown) => unknown>> = {
  "left out": () => undefined,
  null: () => null,
  empty: (old) => (typeof old === "string" ? "" : Array.isArray(old) ? [] : typeof old === "number" ? 0 : {}),
  negative: () => -1,
  half: () => 0.5,
  more: (old) => (typeof old === "number" ? old + 1 : `${String(old)}x`),
  less: (old) => (typeof old === "number" ? old - 1 : 1),
  huge: () => Number.MAX_SAFE_INTEGER,
  large: () => 1_000_000,
  true: () => true,
  controls: () => "a\r\nb\u0000",
  turned: () => "a\u202Eb",
  long: () => "x".repeat(5_000),
  broken: () => "{broken",
  "null as text": () => "null",
  "a list as text": () => "[]",
  "a prototype as text": () => '{"__proto__":1}',
  twice: (old) => (Array.isArray(old) && old.length > 0 ? [...old, old[0]] : old),
};

interface Base {
  readonly session: SessionId;
  readonly lines: readonly string[];
  readonly ids: readonly string[];
}

interface Change {
  readonly base: Base;
  /** The index of the line. */
  readonly index: number;
  readonly path: Path;
  /** The place is in the JSON of the line's text. */
  readonly inText: boolean;
  readonly how: string;
}

const toBase = (session: SessionId, lines: readonly string[]): Base => ({
  session,
  lines,
  ids: [...new Set(lines.join("\n").match(/\b[a-z]{3}_[0-9A-Z]{26}\b/g) ?? [])],
});

const rich = await richLife();
const copied = await makeCopy(rich);
const bases = [toBase(CALLER.session, await exportLines(rich, CALLER)), toBase(copied.session, copied.lines)];

const changes: fc.Arbitrary<Change> = fc.constantFrom(...bases).chain((base) => {
  const places = base.lines.flatMap((line, index) => {
    const whole: Fields = JSON.parse(line);
    const isJson = whole.type === "body" && /^[[{]/.test(String(whole.text));
    const inside = isJson ? [...listPlaces(JSON.parse(String(whole.text)))] : [];
    return [
      ...[...listPlaces(whole)].map((path) => ({ index, path, inText: false })),
      ...inside.map((path) => ({ index, path, inText: true })),
    ];
  });
  const how = fc.oneof(fc.constantFrom(...Object.keys(STRANGE)), fc.constantFrom(...base.ids));
  return fc
    .record({ base: fc.constant(base), place: fc.constantFrom(...places), how })
    .map(({ place, ...rest }) => ({ ...place, ...rest }));
});

function applyChange({ base, index, path, inText, how }: Change): readonly string[] {
  const to = STRANGE[how] ?? (() => how);
  const whole: Fields = JSON.parse(base.lines[index] ?? "");
  const changed = inText
    ? { ...whole, text: JSON.stringify(changeAt(JSON.parse(String(whole.text)), path, to)) }
    : changeAt(whole, path, to);
  return base.lines.with(index, JSON.stringify(changed));
}

const isRead = ({ method, path }: RouteEntry): boolean => method === "GET" || /\/(context|recall)$/.test(path);

/** The route's paths with ids that the export has. */
function listPaths({ path }: RouteEntry, { session, ids }: Base): readonly string[] {
  const known: Readonly<Record<string, readonly string[]>> = {
    session_id: [session],
    schedule_name: ["briefing"],
    branch: ["1", "2"],
    ...Object.fromEntries(
      Object.entries({ message_id: "msg_", turn_id: "trn_", compaction_id: "cmp_", execution_id: "exe_" }).map(
        ([name, prefix]) => [name, ids.filter((id) => id.startsWith(prefix)).slice(-2)] as const,
      ),
    ),
  };
  const fill = (text: string): readonly string[] => {
    const name = /:([a-z_]+)/.exec(text)?.[1];
    return name === undefined ? [text + sampleQuery(path)] : (known[name] ?? []).flatMap((value) => fill(text.replace(`:${name}`, value)));
  };
  return fill(path);
}

/** Reads all that there is of the session, goes on with it, and then changes it in every way. Every fault of the server. */
async function findFaults(target: Life, base: Base): Promise<readonly string[]> {
  const ask = serve(base.session, target);
  await settle();
  const faults: string[] = [];
  const call = async (method: string, path: string, body?: unknown): Promise<void> => {
    const status = await ask(method, path, body);
    if (status >= 500) faults.push(`${method} ${path} ${status}`);
  };
  const routes = listRoutes(app).filter(({ method, path }) => path.includes(":session_id") && method !== "DELETE" && !WAITS.test(path));
  const callAll = async (route: RouteEntry): Promise<void> => {
    for (const path of listPaths(route, base)) await call(route.method, path, route.method === "GET" ? undefined : sampleBody(route));
  };
  for (const route of routes.filter(isRead)) await callAll(route);
  for (const query of ["", "?order_by=created_at", "?end_user=ada", "?external_id=ticket-1"]) await call("GET", `/v1/sessions${query}`);
  await call("POST", "/v1/sessions/search", { query: "lorem" });
  for (const [path, body] of [
    ["fork", {}],
    ["stop", {}],
    ["messages", { content: "And now?" }],
  ] as const)
    await call("POST", `/v1/sessions/${base.session}/${path}`, body);
  if (target.runtime.state.last_turn?.failure?.kind === "internal") faults.push("the turn failed");
  for (const route of routes.filter((each) => !isRead(each))) await callAll(route);
  const logged = [...log.filter(({ level }) => level === "error"), ...target.log.lines.filter(({ event }) => ALARMING.test(event))];
  return [...faults, ...logged.map((line) => JSON.stringify(line))];
}
/** It asks a model again after a while, and time stands still here. */
const WAITS = /compactions\/compare$/;
/** Of a session's own lines: work that fails again and again. */
const ALARMING = /_threw$|^(alarm_failed|job_failed|not_recovered|projection\.failed|schedule_failed|turn_end_not_written)$/;

async function judge(lines: readonly string[], base: Base): Promise<readonly string[] | "refused"> {
  const target = newTarget();
  try {
    const { sessions } = await importInto(target, TENANT, await sealed(lines));
    expect(sessions).toMatchObject([{ status: "restored" }]);
  } catch (error) {
    if (error instanceof ImportFault) return "refused";
    throw error;
  }
  return findFaults(target, base);
}

describe("an export", () => {
  test.each(bases)("as it was made restores a session that every route answers: $session", async (base) => {
    expect(await judge(base.lines, base)).toEqual([]);
  });

  test("with any one field changed is refused, or restores a session that every route answers", { timeout: 900_000 }, async () => {
    const told = fc.asyncProperty(changes, async (change) => {
      const judged = await judge(applyChange(change), change.base);
      if (judged !== "refused") expect(judged).toEqual([]);
    });
    await fc.assert(told, { numRuns: drawn(600), endOnFailure: true });
  });
});
