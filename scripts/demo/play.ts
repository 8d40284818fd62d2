/** Holds the demo's conversation and shows it in lines. Each line comes from an answer of the API or from a frame of the live stream. */
import { z } from "zod";
import { assertNever } from "../../src/lib/assert-never";
import { openSession } from "../replay/player.ts";
import { type Connection, callApi } from "../support/api-client.ts";
import { Failure } from "../support/output.ts";
import { runTurn } from "../support/turns.ts";
import { type Line, labelled, meter, span } from "./line.ts";
import { type LiveFrame, type LiveMessage, liveFrames } from "./live-frames.ts";
import { FACT, MESSAGE_COUNT, MESSAGES } from "./messages.ts";
import { countKeptMessages, type PastRequest, readPastRequest } from "./past-request.ts";

export const MODEL = "small";
export const WINDOW = 2_048;

/** The meter is shown once in this many turns. */
const METER_EVERY = 3;

export interface Demo {
  readonly connection: Connection;
  readonly show: (line: Line) => void;
}

/** Throws a `Failure` when the conversation does not go as the demo expects. */
export async function playDemo({ connection, show }: Demo): Promise<void> {
  const session = await openSession(connection, { model: MODEL, system: null, tools: [] });
  show([
    span(" Longhand", "title"),
    span(`  ${MESSAGE_COUNT} messages, a window of ${formatCount(WINDOW)} tokens, the embedded stand-in model`, "quiet"),
  ]);
  show([]);
  const watch = new Watch({ connection, show }, session);
  await Promise.all([watch.run(), sendAll(connection, session)]);
  await showPast({ connection, show }, session, watch.outcome());
}

async function sendAll(connection: Connection, session: string): Promise<void> {
  for (const content of MESSAGES) {
    const end = await runTurn(connection, { method: "POST", path: `/v1/sessions/${session}/messages`, body: { content } });
    if (end?.type !== "turn.completed") throw new Failure(`A turn ended without an answer: ${JSON.stringify(end)}`);
  }
}

interface Outcome {
  /** The newest turn that was sent before the first compaction. */
  readonly turnBefore: { readonly id: string; readonly number: number };
  readonly lastTurn: string;
}

const figure = z.object({ tokens: z.number() });
const receiptView = z.object({ receipt: z.object({ tokens_before: figure, tokens_after: figure }) });

/** Follows the live stream and shows its frames. */
class Watch {
  readonly #demo: Demo;
  readonly #session: string;
  readonly #turns: string[] = [];
  /** The number of completed turns when each compaction began, by the compaction's id. */
  readonly #begun = new Map<string, number>();
  #completed = 0;
  #before: Outcome["turnBefore"] | null = null;
  #lookUps = 0;
  #answer = "";

  constructor(demo: Demo, session: string) {
    this.#demo = demo;
    this.#session = session;
  }

  /** Ends with the last turn. */
  async run(): Promise<void> {
    for await (const frame of liveFrames(this.#demo.connection, this.#session)) {
      await this.#take(frame);
      if (this.#completed === MESSAGE_COUNT) return;
    }
  }

  outcome(): Outcome {
    const lastTurn = this.#turns.at(-1);
    if (!this.#before || !lastTurn) throw new Failure("Nothing was compacted.");
    if (this.#lookUps === 0) throw new Failure("The model looked nothing up.");
    if (!this.#answer.includes(FACT)) throw new Failure(`The answer does not hold the fact: ${this.#answer}`);
    return { turnBefore: this.#before, lastTurn };
  }

  async #take(frame: LiveFrame): Promise<void> {
    switch (frame.type) {
      case "turn.started":
        if (frame.attempt === 1) this.#startTurn(frame.turn_id);
        return;
      case "item.completed":
        return this.#showMessage(frame.item);
      case "turn.completed":
        this.#completed += 1;
        if (this.#completed % METER_EVERY === 0 && !this.#isLast())
          this.#showMeter(frame.current_context_tokens.tokens, frame.context_window);
        return;
      case "compaction.started":
        this.#begun.set(frame.compaction_id, this.#completed);
        return;
      case "compaction.completed":
        return this.#showCompaction(frame);
      case "notice":
        return this.#demo.show(labelled("notice", "warning", span(frame.text)));
      default:
        return assertNever(frame);
    }
  }

  #isLast(): boolean {
    return this.#turns.length === MESSAGE_COUNT;
  }

  #startTurn(turn: string): void {
    this.#turns.push(turn);
    const number = this.#turns.length;
    if (number !== 1 && !this.#isLast()) return;
    if (number !== 1) this.#demo.show([]);
    this.#demo.show(labelled(`you ${number}`, "user", span(MESSAGES[number - 1] ?? "")));
  }

  /** The first turn and the last turn are shown word for word. */
  #showMessage({ role, content, tool_calls }: LiveMessage): void {
    if (this.#turns.length !== 1 && !this.#isLast()) return;
    const { show } = this.#demo;
    const text = content.map((part) => part.text).join("");
    if (role === "tool") return show(labelled("found", "lookup", span(findBestHit(text))));
    if (text !== "") {
      if (this.#isLast()) this.#answer = text;
      show(labelled("model", "model", span(readFirstLine(text))));
      if (!this.#isLast()) show([]);
    }
    for (const { name, arguments: written } of tool_calls) {
      this.#lookUps += name === "memory_query" ? 1 : 0;
      show(labelled("look-up", "lookup", span(`${name} ${written}`)));
    }
  }

  #showMeter(tokens: number, window: number): void {
    const share = tokens / window;
    const figures = `  ${formatCount(tokens).padStart(5)} of ${formatCount(window)} tokens, ${Math.round(share * 100)} %`;
    this.#demo.show(labelled(`turn ${this.#completed}`, "quiet", meter(share), span(figures)));
  }

  async #showCompaction(frame: Extract<LiveFrame, { type: "compaction.completed" }>): Promise<void> {
    if (!frame.did_compact) throw new Failure(`A compaction failed: ${frame.failure ?? "nothing was compacted"}`);
    const after = this.#begun.get(frame.compaction_id) ?? this.#completed;
    this.#before ??= { id: this.#turns[after - 1] ?? "", number: after };
    const path = `/v1/sessions/${this.#session}/compactions/${frame.compaction_id}`;
    const { receipt } = receiptView.parse(await callApi(this.#demo.connection, { method: "GET", path }));
    const gain = `  ${formatCount(receipt.tokens_before.tokens)} → ${formatCount(receipt.tokens_after.tokens)} tokens`;
    const where = `, in the background after turn ${after}`;
    this.#demo.show(
      labelled("compaction", "compaction", meter(receipt.tokens_after.tokens / WINDOW), span(gain, "compaction"), span(where, "quiet")),
    );
  }
}

async function showPast({ connection, show }: Demo, session: string, { turnBefore, lastTurn }: Outcome): Promise<void> {
  const before = await readPastRequest(connection, session, turnBefore.id);
  const last = await readPastRequest(connection, session, lastTurn);
  if (last.holdsFact || !before.holdsFact) throw new Failure("The fact did not leave the model's view, or was never in it.");
  const kept = await countKeptMessages(connection, session);
  if (kept !== MESSAGE_COUNT) throw new Failure(`Only ${kept} of ${MESSAGE_COUNT} messages are kept word for word.`);
  show([]);
  show(labelled("past", "past", span("GET /v1/sessions/:id/context?at=TURN has what a turn sent, byte for byte", "quiet")));
  show(labelled(`turn ${turnBefore.number}`, "past", span(`${describe(before)}; the key was in it`)));
  show(labelled(`turn ${MESSAGE_COUNT}`, "past", span(`${describe(last)}; the key was not`)));
  show(labelled("record", "past", span(`${kept} of ${MESSAGE_COUNT} messages are still there, word for word`)));
}

const describe = ({ tokens, messages, hasSummary, digest }: PastRequest): string =>
  `${hasSummary ? "a summary and " : ""}${messages} messages, ${formatCount(Math.round(tokens))} tokens, SHA-256 ${digest.slice(0, 8)}`;

const formatCount = (figure: number): string => figure.toLocaleString("en-US");
const readFirstLine = (text: string): string => text.split("\n")[0] ?? "";

/** The first line of a look-up's result. Each hit begins with its position in the record. */
const findBestHit = (output: string): string => output.split("\n").find((line) => line.startsWith("#")) ?? readFirstLine(output);
