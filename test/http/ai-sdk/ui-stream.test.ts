/** The frames of a turn, read by the AI SDK's own transport and reader, are the message that the history shows. */
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { describe, expect, inject, test } from "vitest";
import { createRandom } from "../../../scripts/support/random";
import type { StreamFrame } from "../../../src/contract/frame";
import type { DisplayItem } from "../../../src/contract/item";
import { listHad, parseChat } from "../../../src/http/ai-sdk/chat-input";
import { toUiMessages } from "../../../src/http/ai-sdk/ui-history";
import { writeOutput } from "../../../src/http/ai-sdk/ui-message";
import { createUiTranslator } from "../../../src/http/ai-sdk/ui-stream";
import { makeId, toStream } from "../support";
import { type DrawnTurn, TurnDrawer } from "./drawn-turn";

const TURNS = 100;
const turn = makeId("trn");

/** The text that a client gets of these frames. */
function translate(frames: readonly StreamFrame[], place: object = {}): string {
  const translator = createUiTranslator({ turn, ...place });
  return frames.map((frame, offset) => translator.frame(frame, offset)).join("") + translator.end();
}

/** The chunks as the transport takes them, which checks each against the SDK's schema. */
async function parse(text: string): Promise<ReadableStream<UIMessageChunk>> {
  const transport = new DefaultChatTransport({ fetch: async () => new Response(toStream(text)) });
  return transport.sendMessages({ chatId: "1", messages: [], trigger: "submit-message", messageId: undefined, abortSignal: undefined });
}

async function listChunks(text: string): Promise<UIMessageChunk[]> {
  const chunks: UIMessageChunk[] = [];
  for await (const chunk of await parse(text)) chunks.push(chunk);
  return chunks;
}

/** What a page has once the stream has ended. `message`: what it had before. */
async function read(text: string, message?: UIMessage): Promise<UIMessage> {
  let last = message;
  const fail = (error: unknown): never => {
    throw error;
  };
  for await (const state of readUIMessageStream({ stream: await parse(text), onError: fail, ...(message && { message }) })) last = state;
  if (!last) throw new Error("The stream has no message");
  return JSON.parse(JSON.stringify(last));
}

/** The page keeps that a call was approved. The record says that it ran. */
const withoutGrants = (message: UIMessage): UIMessage => ({
  ...message,
  parts: message.parts.map((part) => {
    if (!("approval" in part) || part.state === "output-denied") return part;
    const { approval: _, ...rest } = part;
    return rest as typeof part;
  }),
});

/** That a person was asked is not told again of a call that has its result. */
const withoutRequests = (message: UIMessage): UIMessage => ({
  ...message,
  parts: message.parts.map((part) => {
    if (!("approval" in part)) return part;
    const { approval: _, ...rest } = part;
    return rest as typeof part;
  }),
});

function toHistory({ items, executions }: DrawnTurn): UIMessage {
  const [, answer] = toUiMessages({ items, executions, addressFile: () => "" });
  return JSON.parse(JSON.stringify(answer));
}

/** The page's own answers, as `addToolOutput` and `addToolApprovalResponse` write them into the message. */
function answerCalls(message: UIMessage, { items }: DrawnTurn, leg: readonly StreamFrame[]): UIMessage {
  const results = new Map<string, DisplayItem>(items.flatMap((item) => (item.execution_id ? [[item.execution_id, item]] : [])));
  const grants = new Map<string, boolean>(
    leg.flatMap((frame) => (frame.type === "approval.resolved" ? [[frame.execution_id, frame.approved]] : [])),
  );
  const parts = message.parts.map((part): unknown => {
    if (!("toolCallId" in part)) return part;
    if (part.state === "approval-requested")
      return { ...part, state: "approval-responded", approval: { id: part.toolCallId, approved: grants.get(part.toolCallId) } };
    const result = results.get(part.toolCallId);
    if (part.state !== "input-available" || part.providerExecuted || !result) return part;
    const [said] = result.content;
    const output = said && "text" in said ? said.text : "";
    if (result.is_error) return { ...part, state: "output-error", errorText: output };
    return { ...part, state: "output-available", output: readAs(output) };
  });
  return { ...message, parts: parts as UIMessage["parts"] };
}

/** The message as the server reads it out of a request. */
function readMessage(message: UIMessage) {
  const parsed = parseChat({ id: "1", message });
  if (!parsed.ok || !parsed.value.last) throw new Error("The message is not understood");
  return parsed.value.last;
}

function readAs(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return output;
  }
}

const random = createRandom(inject("seed"));
const drawn = Array.from({ length: TURNS }, () => new TurnDrawer(random).draw());

describe("a drawn turn", () => {
  test("is the same message live, in one stream, and in the history", async () => {
    for (const each of drawn) expect(withoutGrants(await read(translate(each.legs.flat())))).toEqual(toHistory(each));
  });

  test("is the same message over the requests that answer its calls", async () => {
    for (const each of drawn) {
      let message: UIMessage | undefined;
      for (const leg of each.legs) {
        const had = message && answerCalls(message, each, leg);
        const steps = had?.parts.filter(({ type }) => type === "step-start").length ?? 0;
        message = await read(translate(leg, { steps }), had);
      }
      expect(message && withoutGrants(message)).toEqual(toHistory(each));
    }
  });

  test("is the same message for a page that lost the answer to its last answers", async () => {
    for (const each of drawn) {
      const last = each.legs.at(-1) ?? [];
      if (each.legs.length === 1) continue;
      const had = await read(translate(each.legs.slice(0, -1).flat()));
      const answered = answerCalls(had, each, last);
      const message = await read(translate(each.legs.flat(), { had: listHad(readMessage(answered)) }), answered);
      expect(withoutGrants(message)).toEqual(toHistory(each));
    }
  });

  test("is the same message for a page that comes when its first frames are not kept any more", async () => {
    for (const each of drawn) {
      const frames = each.legs.flat();
      const from = random.between(0, frames.length - 1);
      // What was recorded when the page came: some of it is told again by the frames that are kept.
      const until = frames.slice(0, random.between(from, frames.length - 1));
      const ids = new Set(until.flatMap((frame) => (frame.type === "item.completed" ? [frame.item.id] : [])));
      const items = each.items.filter(({ id }) => ids.has(id));
      const recorded = { items, executions: each.executions };
      const kept: StreamFrame[] = from === 0 ? frames : [{ type: "stream.gap", to: from }, ...frames.slice(from)];
      const message = await read(translate(kept, { recorded }));
      expect(withoutRequests(message)).toEqual(withoutRequests(toHistory(each)));
    }
  });

  test("begins with start, has no open part at its end, and ends with DONE", async () => {
    for (const each of drawn) {
      const text = translate(each.legs.flat());
      const chunks = await listChunks(text);
      expect(chunks[0]).toEqual({ type: "start", messageId: turn });
      expect(chunks.filter(({ type }) => type === "start")).toHaveLength(1);
      const count = (type: string) => chunks.filter((chunk) => chunk.type === type).length;
      expect([count("text-end"), count("reasoning-end"), count("finish-step")]).toEqual([
        count("text-start"),
        count("reasoning-start"),
        count("start-step"),
      ]);
      expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    }
  });
});

describe("a compaction", () => {
  const NOTICE = "Optimizing conversation context…";
  const started: StreamFrame = { type: "turn.started", turn_id: turn, attempt: 1, message_id: makeId("msg"), position: 1 };
  const begun: StreamFrame = { type: "compaction.started", compaction_id: makeId("cmp"), status: NOTICE };
  const notice = { type: "data-status", transient: true, data: { code: "compacting", text: NOTICE, compaction_id: makeId("cmp") } };

  test("that runs already is told right after start", async () => {
    const chunks = await listChunks(translate([started], { compacting: makeId("cmp") }));
    expect(chunks.slice(0, 2)).toEqual([{ type: "start", messageId: turn }, notice]);
  });

  test("of the turn is told when it begins, and one from before the turn is not", async () => {
    expect((await listChunks(translate([begun, started]))).slice(1, -1)).toEqual([]);
    expect((await listChunks(translate([started, begun]))).slice(1, -1)).toEqual([notice]);
  });
});

describe("an output", () => {
  test.each([["21"], ['"21"'], [""], ["null"], ["{broken"], [21], [null], [true], [{ 天: ["晴"] }], [["a"]], ["晴"]])(
    "%j reads as it was written",
    (output) => {
      expect(readAs(writeOutput(output))).toEqual(output);
    },
  );

  test("that is absent is null", () => {
    expect(writeOutput(undefined)).toBe("null");
  });
});
