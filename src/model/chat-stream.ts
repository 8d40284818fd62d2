/**
 * Decodes a streamed chat completion. It is the hot path of every turn, so it is one loop over the bytes. Measured in
 * workerd, it takes 2 to 3 times the CPU time per chunk of a bare proxy, nearly all of it for reading the bytes. The AI
 * SDK's own pipeline (five piped streams, a schema per chunk) took 4 to 6 times; it also renames a call whose id repeats
 * within a reply. Text that arrived in one read leaves as one chunk.
 */
import type { ModelStreamPart } from "../app/ports";
import type { CallUsage } from "../domain/model-call";
import { CUT_OFF, toEventFailure } from "./call-failure";
import { classifyFailure } from "./classify-failure";
import { ToolCallAssembly } from "./tool-call-assembly";
import { WellFormedText } from "./well-formed";
import { asObject, asText, deltaText, parseWireUsage, readReasoning, readToolDeltas, toFinishReason } from "./wire-chunk";

/**
 * Maximum length of one line of the stream, and so of one event, in UTF-16 units. Without it, an endpoint that never ends a
 * line would fill the memory.
 */
const MAX_LINE_UNITS = 2_000_000;

type Said = "text" | "reasoning";

interface DecoderOptions {
  /** Converts an event of another shape to a chunk of a chat completion. */
  readonly normalize?: (event: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** The finish reason of a reply that ended with `[DONE]` and named none. When absent, such a reply counts as cut off. */
  readonly unsaidFinish?: string;
}

/** Decodes one reply. A single reader feeds it the bytes, in order. */
export class ReplyDecoder {
  readonly #options: DecoderOptions;
  readonly #decoder = new TextDecoder();
  readonly #calls = new ToolCallAssembly();
  #out: ModelStreamPart[] = [];
  #finish: string | null = null;
  #usage: CallUsage | null = null;
  #spoke = false;
  /** The run of pieces of one type that is being joined. */
  #run: { readonly type: Said; readonly text: WellFormedText } | null = null;
  /**
   * The pieces of a line that has not ended. They are joined once: joining them at each read would copy the line again and
   * again.
   */
  #pieces: string[] = [];
  #pieceUnits = 0;
  #ended = false;
  /** True once `finish` or `failure` was emitted. Later bytes are ignored. */
  over = false;
  /** Number of deltas so far, including those that have made no chunk. */
  deltas = 0;

  constructor(options: DecoderOptions = {}) {
    this.#options = options;
  }

  /** Returns the chunks in `bytes`, which may end anywhere, even inside a character. */
  read(bytes: Uint8Array): readonly ModelStreamPart[] {
    if (this.over) return [];
    const out = this.#text(this.#decoder.decode(bytes, { stream: true }));
    return this.#ended ? [...out, ...this.#close()] : out;
  }

  /** Returns the last chunks once the bytes have ended. */
  end(): readonly ModelStreamPart[] {
    const out = this.#text("\n");
    return this.over ? out : [...out, ...this.#close()];
  }

  #text(text: string): readonly ModelStreamPart[] {
    let from = 0;
    for (let end = text.indexOf("\n"); end !== -1 && !this.over && !this.#ended; end = text.indexOf("\n", from)) {
      this.#endLine(text, { from, end });
      from = end + 1;
    }
    if (!this.over) this.#hold(from === 0 ? text : text.slice(from));
    const out = this.#out;
    this.#out = [];
    return out;
  }

  #close(): readonly ModelStreamPart[] {
    this.#endRun();
    const said = this.#out;
    this.#out = [];
    return [...said, ...this.#ending()];
  }

  #ending(): readonly ModelStreamPart[] {
    this.over = true;
    if (this.#finish === null) return [{ type: "failure", failure: CUT_OFF }];
    const finish = toFinishReason(this.#finish);
    if (finish === "other" && !this.#spoke) {
      const kind = classifyFailure({ status: null, code: this.#finish, type: null, message: "" });
      if (kind === "overflow") return [{ type: "failure", failure: { kind, status: null } }];
    }
    const calls = this.#calls.finish();
    if (calls === null) return [{ type: "failure", failure: CUT_OFF }];
    const called = calls.length > 0 && finish === "stop" ? "tool_calls" : finish;
    return [...calls.map((call): ModelStreamPart => ({ type: "tool_call", call })), { type: "finish", finish: called, usage: this.#usage }];
  }

  #hold(piece: string): void {
    if (piece === "") return;
    this.#pieces.push(piece);
    this.#pieceUnits += piece.length;
    if (this.#pieceUnits > MAX_LINE_UNITS) this.#cutOff();
  }

  #endLine(text: string, { from, end }: { readonly from: number; readonly end: number }): void {
    if (this.#pieceUnits + end - from > MAX_LINE_UNITS) return this.#cutOff();
    if (this.#pieceUnits === 0) return this.#line(text, { from, end });
    const line = this.#pieces.join("") + text.slice(from, end);
    this.#pieces = [];
    this.#pieceUnits = 0;
    this.#line(line, { from: 0, end: line.length });
  }

  #line(all: string, at: { readonly from: number; readonly end: number }): void {
    if (!all.startsWith("data:", at.from)) return;
    const data = all.slice(at.from + 5, at.end).trim();
    if (data === "") return;
    if (data === "[DONE]") {
      this.#ended = true;
      this.#finish ??= this.#options.unsaidFinish ?? null;
      return;
    }
    const parsed = parseObject(data);
    const event = parsed && this.#options.normalize ? this.#options.normalize(parsed) : parsed;
    if (event === null || (event.error !== undefined && event.error !== null)) this.#fail(event === parsed ? data : JSON.stringify(event));
    else this.#event(event);
  }

  #event(event: Readonly<Record<string, unknown>>): void {
    if (event.usage) this.#usage = parseWireUsage(event.usage) ?? this.#usage;
    const choice = asObject(Array.isArray(event.choices) ? event.choices[0] : null);
    if (!choice) return;
    this.#finish = asText(choice.finish_reason) ?? this.#finish;
    const delta = asObject(choice.delta);
    if (!delta) return;
    this.deltas++;
    this.#say("reasoning", readReasoning(delta));
    this.#say("text", deltaText(delta));
    if (delta.tool_calls && !readToolDeltas(delta).every((call) => this.#calls.add(call))) this.#cutOff();
  }

  #say(type: Said, piece: string): void {
    if (piece === "") return;
    this.#spoke = true;
    if (this.#run?.type !== type) this.#endRun();
    this.#run ??= { type, text: new WellFormedText() };
    this.#give(type, this.#run.text.add(piece));
  }

  #endRun(): void {
    const run = this.#run;
    this.#run = null;
    if (run) this.#give(run.type, run.text.end());
  }

  #give(type: Said, text: string): void {
    if (text === "") return;
    const last = this.#out.at(-1);
    if (last?.type === type) this.#out[this.#out.length - 1] = { ...last, text: last.text + text };
    else this.#out.push({ type, text });
  }

  /** Ends the reply because it exceeds a limit. The rest is not read. */
  #cutOff(): void {
    this.over = true;
    this.#pieces = [];
    this.#pieceUnits = 0;
    this.#endRun();
    this.#out.push({ type: "failure", failure: CUT_OFF });
  }

  #fail(data: string): void {
    this.over = true;
    this.#endRun();
    this.#out.push({ type: "failure", failure: toEventFailure(data) });
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return null;
  }
}
