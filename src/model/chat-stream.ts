/**
 * Decodes a streamed chat completion. It is the hot path of every turn, so it is one loop over the bytes. Measured in
 * workerd, it takes 2 to 3 times the CPU time per chunk of a bare proxy, nearly all of it for reading the bytes. The AI
 * SDK's own pipeline (five piped streams, a schema per chunk) took 4 to 6 times; it also renames a call whose id repeats
 * within a reply. Text that arrived in one read leaves as one chunk.
 */
import type { ModelStreamPart } from "../app/ports";
import type { ProviderMetadata } from "../domain/message";
import type { CallUsage } from "../domain/model-call";
import { CUT_OFF, toEventFailure } from "./call-failure";
import { classifyFailure } from "./classify-failure";
import { ThinkTags } from "./think-tags";
import { ToolCallAssembly } from "./tool-call-assembly";
import { WellFormedText } from "./well-formed";
import { asObject, asText, deltaText, findUsage, isError, readReasoning, readToolDeltas, toFinishReason } from "./wire-chunk";

/**
 * Maximum length of one line of the stream, and so of one event, in UTF-16 units. Without it, an endpoint that never ends a
 * line would fill the memory.
 */
const MAX_LINE_UNITS = 2_000_000;

type Said = "text" | "reasoning";
type Json = Readonly<Record<string, unknown>>;

interface DecoderOptions {
  /** Converts an event of another shape to a chunk of a chat completion. */
  readonly normalize?: (event: Json) => Json;
  /** The finish reason of a reply that ended with `[DONE]` and named none. When absent, such a reply counts as cut off. */
  readonly unsaidFinish?: string;
  /** Whether a reply that begins with `<think>` is thinking up to the end of the tag. Absent: it is text. */
  readonly thinkTags?: boolean;
  /** What thinking is kept with, because it goes back to its provider. Null or absent: nothing. */
  readonly thinkingMark?: ProviderMetadata | null;
}

/** Decodes one reply. A single reader feeds it the bytes, in order. */
export class ReplyDecoder {
  readonly #options: DecoderOptions;
  readonly #decoder = new TextDecoder();
  readonly #calls = new ToolCallAssembly();
  #out: ModelStreamPart[] = [];
  readonly #tags: ThinkTags | null;
  #finish: string | null = null;
  #usage: CallUsage | null = null;
  /** The usage that was given last. */
  #counted: CallUsage | null = null;
  #spoke = false;
  /** The run of pieces of one type that is being joined. */
  #run: { readonly type: Said; readonly text: WellFormedText } | null = null;
  /**
   * The pieces of a line that has not ended. They are joined once: joining them at each read would copy the line again and
   * again.
   */
  #pieces: string[] = [];
  #pieceUnits = 0;
  /** The lines of data of an event that is not complete, or that is no object. */
  #unread: string[] = [];
  #unreadUnits = 0;
  /** The event's name says that it is an error. */
  #namesError = false;
  /** The last text that came as an event. It is no part of a reply, but may say why none came. */
  #words: string | null = null;
  /** The last character was a carriage return, which may be the first half of a line's end. */
  #returned = false;
  #ended = false;
  /** True once `finish` or `failure` was emitted. Later bytes are ignored. */
  over = false;
  /** Number of deltas so far, including those that have made no chunk. */
  deltas = 0;

  constructor(options: DecoderOptions = {}) {
    this.#options = options;
    this.#tags = options.thinkTags ? new ThinkTags() : null;
  }

  /** The reply has named its end. Only its usage may follow. */
  get isSaid(): boolean {
    return this.#finish !== null;
  }

  /** Returns the chunks in `bytes`, which may end anywhere, even inside a character. */
  read(bytes: Uint8Array): readonly ModelStreamPart[] {
    if (this.over) return [];
    const out = this.#text(this.#toLines(this.#decoder.decode(bytes, { stream: true })));
    return this.#ended ? [...out, ...this.#close()] : out;
  }

  /** Returns the last chunks once the bytes have ended. */
  end(): readonly ModelStreamPart[] {
    const out = this.#text("\n\n");
    return this.over ? out : [...out, ...this.#close()];
  }

  /** Lines may end with CRLF or with CR alone. */
  #toLines(text: string): string {
    const rest = this.#returned && text.startsWith("\n") ? text.slice(1) : text;
    if (text !== "") this.#returned = text.endsWith("\r");
    return rest.includes("\r") ? rest.replace(/\r\n?/g, "\n") : rest;
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
    // Some endpoints count in each chunk, so that a reply that is stopped has a count, too.
    const usage = this.#usage === this.#counted ? null : this.#usage;
    if (usage && this.#finish === null && !this.#ended && !this.over) out.push({ type: "usage", usage });
    this.#counted = this.#usage;
    return out;
  }

  #close(): readonly ModelStreamPart[] {
    for (const { type, text } of this.#tags?.end() ?? []) this.#say(type, text);
    this.#endRun();
    const said = this.#out;
    this.#out = [];
    return [...said, ...this.#ending()];
  }

  #ending(): readonly ModelStreamPart[] {
    this.over = true;
    if (this.#finish === null) return [{ type: "failure", failure: this.#words === null ? CUT_OFF : toEventFailure(this.#words) }];
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
    if (at.from === at.end) return this.#endEvent();
    if (all.startsWith("event:", at.from)) this.#namesError = all.slice(at.from + 6, at.end).trim() === "error";
    if (!all.startsWith("data:", at.from)) return;
    const data = all.slice(at.from + 5, at.end).trim();
    if (data === "") return;
    if (data === "[DONE]") {
      this.#ended = true;
      this.#finish ??= this.#options.unsaidFinish ?? null;
      return;
    }
    this.#data(data);
  }

  /** One line of data. Most events have one, and some servers leave out the blank line behind an event. */
  #data(data: string): void {
    const [first] = this.#unread;
    const parsed = first === undefined || !isJson(first) ? parseObject(data) : null;
    if (!parsed) return this.#keep(data);
    if (first !== undefined) this.#endEvent();
    if (!this.over) this.#parsed(parsed, data);
  }

  #keep(data: string): void {
    this.#unread.push(data);
    this.#unreadUnits += data.length;
    if (this.#unreadUnits > MAX_LINE_UNITS) this.#cutOff();
  }

  /** Reads an event over several lines. Broken JSON is a failure; words, as of a ping, are no event. */
  #endEvent(): void {
    const lines = this.#unread;
    const fails = this.#namesError;
    this.#unread = [];
    this.#unreadUnits = 0;
    this.#namesError = false;
    if (lines.length === 0) return;
    const text = lines.join("\n");
    const parsed = lines.length > 1 ? parseObject(text) : null;
    if (parsed) this.#parsed(parsed, text, fails);
    else if (fails || (isJson(text) && this.#finish === null)) this.#fail(text);
    else this.#words = text;
  }

  #parsed(parsed: Json, data: string, namesError = this.#namesError): void {
    const event = this.#options.normalize ? this.#options.normalize(parsed) : parsed;
    const fails = isError(event) || (namesError && !Array.isArray(event.choices));
    if (fails) this.#fail(event === parsed ? data : JSON.stringify(event));
    else this.#event(event);
  }

  #event(event: Json): void {
    const choice = asObject(Array.isArray(event.choices) ? event.choices[0] : null);
    this.#usage = findUsage(event, choice) ?? this.#usage;
    if (!choice) return;
    this.#finish = asText(choice.finish_reason) ?? this.#finish;
    // A chunk in the form of a whole reply has a `message`.
    const delta = asObject(choice.delta) ?? asObject(choice.message);
    if (!delta) return;
    this.deltas++;
    this.#say("reasoning", readReasoning(delta));
    this.#hear(deltaText(delta));
    if (!readToolDeltas(delta).every((call) => this.#calls.add(call))) this.#cutOff();
  }

  #hear(piece: string): void {
    if (!this.#tags || piece === "") return this.#say("text", piece);
    for (const { type, text } of this.#tags.take(piece)) this.#say(type, text);
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
    if (!run) return;
    this.#give(run.type, run.text.end());
    const { thinkingMark } = this.#options;
    if (thinkingMark && run.type === "reasoning") this.#out.push({ type: "reasoning", text: "", provider_metadata: thinkingMark });
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

/** Text that is JSON, or the beginning of it. */
const isJson = (text: string): boolean => text.startsWith("{") || text.startsWith("[");

function parseObject(text: string): Json | null {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return null;
  }
}
