/** Waits for a turn within a limit, and says meanwhile how far it is. The turn goes on whatever becomes of the wait. */
import { createParser } from "eventsource-parser";
import type { Context } from "hono";
import { COMPACTING_STATUS } from "../../app/compaction/compacting-status";
import type { StreamFrame } from "../../contract/frame";
import type { TurnReport } from "../../contract/turn";
import type { SessionId, TurnId } from "../../domain/ids";
import { toErrorName } from "../../lib/error-name";
import { ok, type Result } from "../../lib/result";
import type { HttpDeps, HttpEnv } from "../deps";
import type { HttpError } from "../problem";
import type { SessionCalls } from "../session-calls";
import { type TurnState, toTurnState, toUnknownTurn } from "./shapes";
import type { ToolCall } from "./tool";

/** The least time between two reports of the text's growth. */
const PACE_MS = 1_000;

interface Wait extends Pick<ToolCall, "progress"> {
  readonly c: Context<HttpEnv>;
  readonly deps: HttpDeps;
  readonly calls: SessionCalls;
  readonly session: SessionId;
  readonly turn: TurnId;
  readonly seconds: number;
  /** Where the stream begins. Null: with the first frame that is kept. */
  readonly after: number | null;
}

/** Reports the turn as it is when it ends, waits for tools, or the time is up. */
export async function waitWithin(wait: Wait): Promise<Result<TurnState, HttpError>> {
  const { calls, deps, session, turn, seconds } = wait;
  const late = Promise.withResolvers<null>();
  const most = seconds * 1_000;
  const cancel = deps.schedule(most, () => late.resolve(null));
  const leave = await tellProgress(wait);
  try {
    const ended = await Promise.race([calls.repeatable((api, caller) => api.waitForTurn(caller, turn, most)), late.promise]);
    const report = ended ?? (await calls.repeatable((api, caller) => api.turn(caller, turn)));
    return toState(session, report);
  } catch (error) {
    // The object was lost while the turn ran. It recovers the turn; a refusal would let the client say the message again.
    deps.log.warn("http.turn_not_awaited", { request_id: wait.c.get("requestId"), turn, error: toErrorName(error) });
    return ok(toUnknownTurn(session, turn));
  } finally {
    cancel();
    leave();
  }
}

const toState = (session: SessionId, report: Result<TurnReport, HttpError>): Result<TurnState, HttpError> =>
  report.ok ? ok(toTurnState(session, report.value)) : report;

/** The returned function ends the reports. Without them the wait is no worse, so that no failure of the stream is a failure here. */
async function tellProgress({ calls, deps, turn, after, progress }: Wait): Promise<() => void> {
  if (!progress) return () => undefined;
  try {
    const followed = await calls.repeatable((api, caller) => api.follow(caller, { after, turn }));
    if (!followed.ok) return () => undefined;
    const { stream, compacting } = followed.value;
    if (compacting) await progress(COMPACTING_STATUS);
    const reader = stream.getReader();
    void readFrames(reader, createTeller(progress, deps.now)).catch(() => undefined);
    return () => void reader.cancel().catch(() => undefined);
  } catch {
    return () => undefined;
  }
}

async function readFrames(reader: ReadableStreamDefaultReader<Uint8Array>, tell: (frame: StreamFrame) => Promise<void>): Promise<void> {
  const utf8 = new TextDecoder();
  const frames: StreamFrame[] = [];
  const parser = createParser({ onEvent: ({ data }) => void frames.push(JSON.parse(data)) });
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    parser.feed(utf8.decode(read.value, { stream: true }));
    for (const frame of frames.splice(0)) await tell(frame);
  }
}

/** Says what a person would want to hear while waiting. The text itself comes with the answer. */
function createTeller(progress: NonNullable<Wait["progress"]>, now: () => number): (frame: StreamFrame) => Promise<void> {
  let characters = 0;
  let told = 0;
  return async (frame) => {
    const text = toStep(frame);
    if (frame.type === "text.delta") characters += frame.text.length;
    const isDue = frame.type === "text.delta" && now() - told >= PACE_MS;
    if (text === null && !isDue) return;
    told = now();
    await progress(text ?? `The model is writing: ${characters} characters so far`);
  };
}

function toStep(frame: StreamFrame): string | null {
  if (frame.type === "turn.started") return "The turn has started";
  if (frame.type === "turn.waiting") return "The model is asked again";
  if (frame.type === "compaction.started") return frame.status;
  if (frame.type === "tool.started") return "A tool runs";
  if (frame.type === "approval.requested") return "A tool call waits for approval";
  return null;
}
