/** Every request to a model is bounded in bytes, for any purpose, even if the window is unknown or larger. */
import { beforeEach, expect, test } from "vitest";
import { runCompaction } from "../../src/app/compaction/run-compaction";
import type { ChatModel, ModelRequest } from "../../src/app/ports";
import { MAX_REQUEST_BYTES } from "../../src/context/model-quirks";
import type { PolicyChoice } from "../../src/context/policy-choice";
import { MAX_CONTENT_BYTES } from "../../src/context/request-bytes";
import type { CompactionId } from "../../src/domain/ids";
import { createChatModel } from "../../src/model/chat-model";
import { toStream } from "../model/scripted";
import { CALLER, Life, SPEC, settle } from "./life";
import { append } from "./talk";

const MESSAGE = 500_000;
/** About a token. */
const WORD = "word ";
const NEVER = { preset: "oneclaw", unknown_window: null, title_model: SPEC.id } as const satisfies PolicyChoice;
/** Another model, for summaries alone. */
const SUMMARIZER = "summarizer";
const byHand = { dryRun: false, instructions: null, keepRecent: null, upTo: null, idempotency: null } as const;

interface Sent {
  readonly purpose: ModelRequest["purpose"];
  readonly bytes: number;
}

/** A provider that implements chat completions and records the size of each request. */
function provider(sent: Sent[]): ChatModel {
  let purpose: Sent["purpose"] = "turn";
  const fetch = async (_url: string, { body }: RequestInit) => {
    sent.push({ purpose, bytes: new TextEncoder().encode(String(body)).byteLength });
    const usage = { prompt_tokens: Math.ceil(String(body).length / WORD.length), completion_tokens: 8, total_tokens: 8 };
    const delta = (content: object, finish_reason: string | null) => ({ choices: [{ index: 0, delta: content, finish_reason }] });
    const events = [delta({ content: "## Goal\nA long record.\n" }, null), delta({}, "stop"), { choices: [], usage }, "data: [DONE]\n\n"];
    return new Response(toStream(events), { headers: { "content-type": "text/event-stream" } });
  };
  const model = createChatModel({ credentials: async () => null, estimate: () => 1, fetch });
  return {
    render: (request) => model.render(request),
    stream(request, options) {
      ({ purpose } = request);
      return model.stream(request, options);
    },
  };
}

let sent: Sent[] = [];
beforeEach(() => {
  sent = [];
});

/** `summarizer`: the window of the summariser. The session's model is used if the policy names no other. */
async function lifeWith(window: number | null, policy: PolicyChoice, summarizer: number | null = window): Promise<Life> {
  const life = new Life();
  const spec = { ...SPEC, provider: "openai-compatible", base_url: "http://127.0.0.1:9/v1", context_window: window } as const;
  life.models = { resolve: async (id) => ({ ...spec, id, context_window: id === SUMMARIZER ? summarizer : window }) };
  life.chat = provider(sent);
  await life.open(policy);
  return life;
}

const idle = async (life: Life): Promise<void> => {
  while (life.runtime.state.turn) await settle();
};

/** A worker runs the requested compaction. */
async function work(life: Life): Promise<void> {
  const { requested } = life.runtime.state.compaction;
  if (!requested) throw new Error("no compaction was asked for");
  const { model, clock, schedule, log } = life.runtime.deps;
  await runCompaction(
    { ...CALLER, compaction: requested.id as CompactionId },
    { session: life.service, model, clock, schedule, random: () => 0, isSuspended: async () => false, log },
  );
}

const largest = (purpose: Sent["purpose"]): number =>
  Math.max(...sent.filter((each) => each.purpose === purpose).map(({ bytes }) => bytes));

test("a session of 20 MB whose policy never compacts sends turns and a title within the bound", async () => {
  const life = await lifeWith(null, NEVER);
  const turns = 40;
  for (let n = 0; n < turns; n++) {
    await life.send(`${n} ${"word ".repeat(MESSAGE / 5)}`);
    await idle(life);
  }
  expect(sent.filter(({ purpose }) => purpose === "turn")).toHaveLength(turns);
  expect(sent.filter(({ purpose }) => purpose === "title")).toHaveLength(1);
  expect(Math.max(...sent.map(({ bytes }) => bytes))).toBeLessThanOrEqual(MAX_REQUEST_BYTES);
  expect(largest("turn")).toBeGreaterThan(MAX_REQUEST_BYTES / 2);
  expect(life.runtime.state.last_turn).toMatchObject({ status: "completed" });
}, 120_000);

test.each([
  ["a model of unknown window", null, { mode: "transcript", models: [SUMMARIZER] }, "word "],
  ["one that is shown long runs of one sign", null, { mode: "transcript", models: [SUMMARIZER] }, `word${" ".repeat(46)}`],
  ["a model of a hundred million tokens", 100_000_000, { mode: "transcript", models: [] }, "word "],
] as const)("a summary is asked of %s in parts that are within the bound", async (_, window, summary, words) => {
  const life = await lifeWith(100_000_000, { ...NEVER, title_model: null, summary: { ...summary, models: [...summary.models] } }, window);
  for (let n = 0; n < 30; n++) {
    const text = `${n}${words.repeat(MESSAGE / words.length)}.`;
    await append(life, n % 2 ? "assistant" : "user", [{ type: "text", text }]);
  }

  expect(await life.service.compact(CALLER, { ...byHand, keepRecent: 1_000 })).toMatchObject({ ok: true });
  await work(life);

  const summaries = sent.filter(({ purpose }) => purpose === "compaction");
  expect(summaries.length).toBeGreaterThan(1);
  expect(summaries.length).toBeLessThan(8);
  expect(largest("compaction")).toBeLessThanOrEqual(MAX_REQUEST_BYTES);
  expect(life.events()).toContainEqual(expect.objectContaining({ type: "EpochChanged", trigger: "manual" }));
  expect(life.events()).not.toContainEqual(expect.objectContaining({ type: "CompactionFailed" }));
});

test.each([
  [1, "reads the turn's own prefix", "same_prefix"],
  [12, "reads a transcript, where the prefix has grown beyond the bound", "transcript"],
] as const)("after %i messages more a summary %s", async (more, _, mode) => {
  const life = await lifeWith(100_000_000, { ...NEVER, title_model: null, summary: { mode: "cheaper" } });
  const text = WORD.repeat(MESSAGE / WORD.length);
  for (let n = 0; n < 10; n++) await append(life, "user", [{ type: "text", text }]);
  await life.send("go on");
  await idle(life);
  for (let n = 0; n < more; n++) await append(life, "user", [{ type: "text", text }]);

  await life.service.compact(CALLER, { ...byHand, keepRecent: 1_000 });
  await work(life);

  expect(life.events().find((event) => event.type === "CompactionStarted")).toMatchObject({ mode });
  expect(largest("compaction")).toBeLessThanOrEqual(MAX_REQUEST_BYTES);
});

test("a message that no request has room for is refused with its bytes, and leaves before anything older does", async () => {
  const life = await lifeWith(null, { ...NEVER, title_model: null });
  await life.send("first");
  await idle(life);
  await life.send("x".repeat(MAX_CONTENT_BYTES + 1));
  await idle(life);
  const bytes = { floor: expect.any(Number), limit: MAX_CONTENT_BYTES };
  expect(life.runtime.state.last_turn).toMatchObject({ status: "failed", failure: { kind: "cannot_fit", fit: { bytes } } });
  expect(sent).toHaveLength(1);

  await life.send("and briefly?");
  await idle(life);

  expect(life.runtime.state.last_turn).toMatchObject({ status: "completed" });
  expect(life.runtime.state.view.items.map(({ position }) => position)).toEqual([1, 2, 4, 5]);
});
