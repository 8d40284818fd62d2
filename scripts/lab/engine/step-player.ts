/** Plays a client's recorded actions, and the recorded replies, to a session. The caller makes the model calls and decides their cost. */
import type { ModelCall } from "../../../src/domain/commands";
import type { ItemMeta, NewItem, Part } from "../../../src/domain/message";
import { messageText } from "../../../src/evaluate/segments";
import type { LabSession } from "./session";
import type { Reply, Step } from "./steps";

/** A recorded reply, ready to be appended. */
export interface Spoken {
  readonly drafts: readonly NewItem[];
  readonly text: string;
}

export interface Caller {
  /** Called before the user message of the `turn`th turn. */
  beforeTurn?(turn: number): void;
  /** Called before a model call. Returns false when nothing makes room for it. */
  prepare(): boolean;
  /** Makes the call and records the reply. Returns false when the provider refused the request and the turn failed. */
  call(spoken: Spoken): boolean;
  /** Ends a turn for which there is no room. */
  fail(kind: "cannot_fit", call: ModelCall | null): void;
  afterTurn(): void;
}

export interface Tally {
  turns: number;
  /** Turns for which there was no room. */
  refused: number;
}

const toText = (text: string): Part => ({ type: "text", text });

export class StepPlayer {
  readonly #session: LabSession;
  readonly #calls: Caller;
  readonly #tally: Tally;

  constructor(by: { readonly session: LabSession; readonly calls: Caller; readonly tally: Tally }) {
    this.#session = by.session;
    this.#calls = by.calls;
    this.#tally = by.tally;
  }

  play(step: Step): void {
    this.#session.tick();
    switch (step.type) {
      case "append":
        return this.#import(step);
      case "ask":
        this.#tally.turns += 1;
        this.#calls.beforeTurn?.(this.#tally.turns);
        this.#ask(step.content);
        return this.#answer(step.reply);
      case "answer":
        return this.#giveResults(step);
    }
  }

  /** A message without a recorded answer is still part of the conversation. */
  #import(step: Extract<Step, { type: "append" }>): void {
    this.#endTurn();
    switch (step.role) {
      case "user":
        return this.#append([this.#session.draft("user", [toText(step.content)], { turn: null })]);
      case "assistant":
        return this.#append(this.#speak({ text: step.content, calls: step.calls }));
      case "tool":
        return this.#append([this.#resultWithoutTurn(step.call_id, step.content)]);
    }
  }

  #ask(text: string): void {
    this.#endTurn();
    const session = this.#session;
    const { incarnation } = session;
    const turn = session.newId("trn");
    const message = { item: session.draft("user", [toText(text)], { turn }), rest: [], turn, tools: null };
    const command = { type: "SubmitMessage", message, onBusy: "queue", incarnation, queueLimit: 1, partial: null, call: null } as const;
    session.execute({ at: session.now, ...command });
  }

  /** A recording may end with results that were never answered. Then there is no further call, and the turn ends. */
  #endTurn(): void {
    const session = this.#session;
    if (session.state.turn?.phase !== "generating") return;
    session.execute({ at: session.now, type: "StopTurn", turn: null, reason: "requested", partial: null, call: null });
  }

  #giveResults({ outputs, reply }: Extract<Step, { type: "answer" }>): void {
    const session = this.#session;
    if (session.state.turn === null) this.#append(outputs.map(({ call_id, output }) => this.#resultWithoutTurn(call_id, output)));
    else {
      const results = outputs.map(({ call_id, output }) => {
        const item = session.draft("tool_result", [this.#toResult(call_id, output)], { turn: session.state.turn?.id ?? null });
        return { execution: null, call_id, item, is_error: false };
      });
      session.execute({ at: session.now, type: "RecordToolResults", incarnation: session.incarnation, results });
    }
    if (reply) this.#answer(reply);
  }

  #toResult(call_id: string, output: string): Part {
    const call = this.#session.record.findLast(({ meta }) => meta.kind === "tool_call" && meta.tool?.call_id === call_id);
    return { type: "tool_result", call_id, name: call?.meta.tool?.name ?? "", output, is_error: false };
  }

  #resultWithoutTurn(call_id: string, output: string): NewItem {
    const call = this.#session.record.findLast(({ meta }) => meta.kind === "tool_call" && meta.tool?.call_id === call_id);
    const tool = call?.meta.tool;
    return this.#session.draft("tool_result", [this.#toResult(call_id, output)], { turn: null, ...(tool ? { tool } : {}) });
  }

  #answer(reply: Reply): void {
    if (this.#session.state.turn === null) return this.#append(this.#speak(reply));
    if (!this.#calls.prepare()) {
      this.#tally.refused += 1;
      this.#calls.fail("cannot_fit", null);
      return this.#append(this.#speak(reply));
    }
    const drafts = this.#speak(reply);
    const answered = this.#calls.call({ drafts, text: replyText(reply) });
    if (!answered) this.#append(drafts.map((draft) => ({ ...draft, turn: null })));
    this.#calls.afterTurn();
  }

  /** Appends the recorded messages of a failed turn without a call, so that the conversation is the same for every policy. */
  #append(drafts: readonly NewItem[]): void {
    const first = this.#session.state.next_position;
    const items = drafts.map((draft, index): ItemMeta => ({ ...draft, position: first + index }));
    this.#session.apply({ type: "MessagesAppended", items, dequeued: [] });
  }

  #speak({ text, calls }: Reply): NewItem[] {
    const session = this.#session;
    const turn = session.state.turn?.id ?? null;
    const said = text === "" ? [] : [session.draft("assistant", [toText(text)], { turn })];
    return [
      ...said,
      ...calls.map(({ id, name, arguments: args }) => {
        const tool = { execution: session.newId("exe"), call_id: id, name };
        return session.draft("tool_call", [{ type: "tool_call", call_id: id, name, arguments: args }], { turn, tool });
      }),
    ];
  }
}

const replyText = ({ text, calls }: Reply): string =>
  messageText([
    ...(text === "" ? [] : [toText(text)]),
    ...calls.map((call): Part => ({ type: "tool_call", call_id: call.id, name: call.name, arguments: call.arguments })),
  ]);
