/**
 * Writes the calls of a turn, in order. Which side runs a call is known only after the reply is recorded: when the call starts,
 * waits for approval or for the client, or has its result. A call waits for that, and later ones wait behind it.
 */
import type { DisplayItem } from "../../contract/item";
import type { ToolCallView } from "../../contract/tool";
import { type Chunk, readJson } from "./ui-message";

type Call = NonNullable<DisplayItem["tool_calls"]>[number];

interface Waiting {
  readonly call: Call;
  runs: ToolCallView["runs"] | null;
  /** What follows the call. */
  readonly rest: Chunk[];
}

export class ToolWriter {
  readonly #write: (chunk: Chunk) => void;
  #waiting: Waiting[] = [];
  readonly #asked = new Set<string>();
  readonly #denied = new Set<string>();

  constructor(write: (chunk: Chunk) => void) {
    this.#write = write;
  }

  call(calls: readonly Call[]): void {
    for (const call of calls) this.#waiting.push({ call, runs: null, rest: [] });
  }

  learn(calls: readonly { readonly id: string; readonly runs: ToolCallView["runs"] }[]): void {
    for (const { id, runs } of calls) {
      const waiting = this.#find(id);
      if (waiting) waiting.runs ??= runs;
    }
    this.#flush();
  }

  /** A person is asked whether the call may run. The execution's id names the question, too. */
  ask(id: string): void {
    this.learn([{ id, runs: "server" }]);
    this.#asked.add(id);
    this.#follow(id, { type: "tool-approval-request", approvalId: id, toolCallId: id });
  }

  /** The call's result will say that it was refused. */
  deny(id: string): void {
    this.#denied.add(id);
  }

  resolve(id: string, approved: boolean): void {
    if (!approved) this.deny(id);
    // A client that asked the person itself, in an earlier stream, knows the answer.
    if (this.#asked.has(id)) this.#follow(id, { type: "tool-approval-response", approvalId: id, approved });
  }

  /** A result. One whose call was not learned of before is a look-up in the record, which the server runs. */
  answer({ execution_id: id, content, is_error }: DisplayItem): void {
    if (id === undefined) return;
    this.learn([{ id, runs: "server" }]);
    const text = content.map((part) => ("text" in part ? part.text : "")).join("");
    if (this.#denied.has(id)) this.#follow(id, { type: "tool-output-denied", toolCallId: id });
    else if (is_error) this.#follow(id, { type: "tool-output-error", toolCallId: id, errorText: text });
    else this.#follow(id, { type: "tool-output-available", toolCallId: id, output: readJson(text) });
  }

  #find(id: string): Waiting | undefined {
    return this.#waiting.find(({ call }) => call.execution_id === id);
  }

  #follow(id: string, chunk: Chunk): void {
    const waiting = this.#find(id);
    if (waiting) waiting.rest.push(chunk);
    else this.#write(chunk);
  }

  #flush(): void {
    for (let [first] = this.#waiting; first?.runs; [first] = this.#waiting) {
      this.#waiting.shift();
      const { call, runs, rest } = first;
      const named = { toolCallId: call.execution_id, toolName: call.name, input: readJson(call.arguments) };
      this.#write({ type: "tool-input-available", ...named, ...(runs === "server" && { dynamic: true, providerExecuted: true }) });
      for (const chunk of rest) this.#write(chunk);
    }
  }
}
