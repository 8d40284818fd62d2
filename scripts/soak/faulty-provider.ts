/**
 * A model over HTTP that answers most requests and fails otherwise, as providers do. A seed draws each fault by its
 * share of all requests.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type Responder, type StandIn, startStandIn } from "../../test/support/stand-in/stand-in.ts";
import { cutSummary } from "../../test/support/stand-in/summary.ts";
import { contentText, type Reply, type WireRequest } from "../../test/support/stand-in/wire.ts";
import type { Random } from "../support/random.ts";

/** The true limit in tokens, whatever window is registered. Longer requests are refused. */
export const TRUE_WINDOW = 6_000;
/** In a message, this marker precedes a tool's name, and the model calls the tool. */
export const USE = "please use";

const SLOW = { least: 1_000, most: 5_000 };
const WORDS = { least: 6, most: 40 };
const WORD_MS = 10;
/** More characters in one event than a reply may have. */
const GIANT_WORDS = 100_000;

type Fault = "429" | "500" | "529" | "broken" | "error" | "slow" | "garbage" | "whole" | "miscount" | "giant" | "hang";

/** The frequency of each fault in thousandths of all requests. A hang lasts until the session gives up, a minute later. */
export const SHARES: readonly (readonly [Fault, number])[] = [
  ["429", 30],
  ["500", 20],
  ["529", 20],
  ["broken", 25],
  ["error", 10],
  ["slow", 30],
  ["garbage", 15],
  ["whole", 10],
  ["miscount", 10],
  ["giant", 2],
  ["hang", 2],
];

export interface FaultyProvider {
  readonly baseUrl: string;
  /** The number of faults of each kind. An overflow is a request that really did not fit. */
  readonly faults: () => Readonly<Record<string, number>>;
  readonly requests: () => number;
  /** Stops all faults, so that running turns can end. */
  calm(): void;
  close(): Promise<void>;
}

export async function startFaultyProvider(random: Random): Promise<FaultyProvider> {
  const counts: Record<string, number> = {};
  let requests = 0;
  let calm = false;
  const answer =
    (good: Responder): Responder =>
    async (request, entry) => {
      requests += 1;
      // Keeping whole requests for an hour would take too much memory.
      counts.overflow = (counts.overflow ?? 0) + standIn.log.filter(({ overflow }) => overflow).length;
      standIn.clearLog();
      const fault = calm ? null : drawFault(random);
      if (fault === null) return good(request, entry);
      counts[fault] = (counts[fault] ?? 0) + 1;
      return (await fail(fault, random)) ?? good(request, entry);
    };
  const standIn: StandIn = await startStandIn({
    window: TRUE_WINDOW,
    respond: answer((request) => say(request, random)),
    summarize: answer((request) => ({ text: cutSummary(request) })),
  });
  return {
    baseUrl: standIn.baseUrl,
    faults: () => counts,
    requests: () => requests,
    calm: () => {
      calm = true;
    },
    close: () => standIn.close(),
  };
}

/** Null: no fault for this request. */
export function drawFault(random: Random): Fault | null {
  const at = random.between(0, 999);
  let sum = 0;
  for (const [fault, share] of SHARES) {
    sum += share;
    if (at < sum) return fault;
  }
  return null;
}

/** Null: the request only takes longer. */
async function fail(fault: Fault, random: Random): Promise<Reply | null> {
  switch (fault) {
    case "429":
      return {
        status: 429,
        headers: { "retry-after": "1" },
        error: { message: "Rate limit reached for requests", type: "rate_limit_error" },
      };
    case "500":
      return { status: 500, error: { message: "The server had an error while processing your request.", type: "server_error" } };
    case "529":
      return { status: 529, error: { message: "Overloaded", type: "overloaded_error" } };
    case "broken":
      return { text: "This answer will not be heard to its end, for the line breaks.", chunks: 8, cutAfterChunks: random.between(1, 6) };
    case "error":
      return { text: "This goes", error: { message: "The server had an error.", type: "server_error" } };
    case "garbage":
      return { raw: 'data: {"choices": [{"delta": \n\ndata: <html>502</html>\n\n' };
    case "whole":
      return { text: "This answer comes whole, though a stream was asked for.", whole: true };
    case "miscount":
      return { text: "This answer is counted wrongly.", usage: { prompt_tokens: 99_999_999, completion_tokens: 99_999_999 } };
    case "giant":
      return { text: "giant ".repeat(GIANT_WORDS), chunks: 1 };
    case "hang":
      return { hang: true };
    case "slow":
      await delay(random.between(SLOW.least, SLOW.most));
      return null;
  }
}

function say({ messages, tools = [] }: WireRequest, random: Random): Reply {
  const last = messages.at(-1);
  const asked = last?.role === "user" ? new RegExp(`${USE} (\\w+)`).exec(contentText(last.content))?.[1] : undefined;
  if (asked !== undefined && JSON.stringify(tools).includes(`"${asked}"`)) {
    return { tool_calls: [{ id: `call_${random.between(1, 1_000_000)}`, name: asked, arguments: "{}" }] };
  }
  return speak(random.between(WORDS.least, WORDS.most));
}

async function* speak(words: number): AsyncGenerator<string> {
  for (let word = 1; word <= words; word++) {
    await delay(WORD_MS);
    yield `word${word} `;
  }
}
