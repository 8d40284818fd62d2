/** A run in progress: what it has said, for whoever must stop it and keep that. */
import type { TurnRun } from "../domain/commands";
import type { Part } from "../domain/message";

export class LiveTurn {
  readonly abort = new AbortController();
  text = "";
  reasoning = "";

  constructor(readonly run: TurnRun) {}

  /** What was said so far, as parts; empty: nothing was. */
  get parts(): Part[] {
    const parts: Part[] = [];
    if (this.reasoning) parts.push({ type: "reasoning", text: this.reasoning });
    if (this.text) parts.push({ type: "text", text: this.text });
    return parts;
  }
}
