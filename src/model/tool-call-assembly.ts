/**
 * Puts streamed tool calls together. Calls are told apart by their place in the stream, never by their id: a
 * provider may give two calls of one reply the same id, and both must come out as they were written.
 */
import { MAX_CALL_ID_UNITS, MAX_REPLY_CALLS, MAX_SIGNATURE_UNITS, MAX_TOOL_NAME_UNITS, type ToolCallPart } from "../domain/message";
import type { WireToolDelta } from "./wire-chunk";

/** Arguments and signatures of one reply together, in UTF-16 units: they are held until the reply ends, so a provider must not fill the memory with them. */
const MAX_HELD_UNITS = 1_000_000;

interface OpenCall {
  readonly index: number | null;
  id: string | null;
  name: string | null;
  signature: string | null;
  readonly pieces: string[];
}

export class ToolCallAssembly {
  readonly #calls: OpenCall[] = [];
  #heldUnits = 0;

  /**
   * False: more than a reply may hold, and nothing more is taken. A failure and not a cut: a shortened id or name is
   * another one, and a list of calls with some left out is not what the model said.
   */
  add(delta: WireToolDelta): boolean {
    if (!this.#holds(delta)) return false;
    const call = this.#continues(delta) ?? this.#open(delta);
    call.id ??= delta.id;
    call.name ??= delta.name;
    call.signature ??= delta.signature;
    if (delta.arguments !== "") call.pieces.push(delta.arguments);
    return this.#calls.length <= MAX_REPLY_CALLS;
  }

  #holds({ id, name, signature, arguments: piece }: WireToolDelta): boolean {
    this.#heldUnits += piece.length + (signature?.length ?? 0);
    if (this.#heldUnits > MAX_HELD_UNITS || (signature?.length ?? 0) > MAX_SIGNATURE_UNITS) return false;
    return (id?.length ?? 0) <= MAX_CALL_ID_UNITS && (name?.length ?? 0) <= MAX_TOOL_NAME_UNITS;
  }

  /** Complete calls in order, all of their text well formed (`chat-stream`). Null: one never got a name, which nothing can be done with. */
  finish(): readonly ToolCallPart[] | null {
    const parts: ToolCallPart[] = [];
    for (const [place, call] of this.#calls.entries()) {
      if (call.name === null) return null;
      parts.push({
        type: "tool_call",
        // A few local servers name no id. Its place is unique within the reply, which is all that the wire asks for.
        call_id: call.id?.toWellFormed() ?? `call_${place}`,
        name: call.name.toWellFormed(),
        arguments: call.pieces.join("").toWellFormed(),
        ...(call.signature === null ? {} : { provider_metadata: { google: { thoughtSignature: call.signature.toWellFormed() } } }),
      });
    }
    return parts;
  }

  /** Some send index 0 for every call, some no index: a named start with another id is then a new call. */
  #continues(delta: WireToolDelta): OpenCall | undefined {
    const startsAnother = (call: OpenCall) => delta.name !== null && delta.id !== null && call.id !== null && call.id !== delta.id;
    if (delta.index !== null) return this.#calls.findLast((call) => call.index === delta.index && !startsAnother(call));
    const last = this.#calls.at(-1);
    return last && delta.name === null ? last : undefined;
  }

  #open(delta: WireToolDelta): OpenCall {
    const call: OpenCall = { index: delta.index, id: null, name: null, signature: null, pieces: [] };
    this.#calls.push(call);
    return call;
  }
}
