/**
 * Assembles streamed tool calls. Calls are identified by their place in the stream, never by their id alone: a provider may
 * give two calls of one reply the same id, and both must come out unchanged.
 */
import { MAX_CALL_ID_UNITS, MAX_REPLY_CALLS, MAX_SIGNATURE_UNITS, MAX_TOOL_NAME_UNITS, type ToolCallPart } from "../domain/message";
import type { WireToolDelta } from "./wire-chunk";

/**
 * Limit for the arguments and signatures of one reply together, in UTF-16 units. They are held until the reply ends, so
 * without a limit a provider could fill the memory.
 */
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
   * Adds a delta. Returns false when the reply exceeds a limit: the caller then fails the reply. Cutting would be
   * wrong: a shortened id or name is a different one, and a list with calls left out is not what the model said.
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

  /** The complete calls in order, with well-formed text (`chat-stream`). Null when a call never got a name: it cannot be used. */
  finish(): readonly ToolCallPart[] | null {
    const parts: ToolCallPart[] = [];
    for (const [place, call] of this.#calls.entries()) {
      if (call.name === null) return null;
      parts.push({
        type: "tool_call",
        // A few local servers send no id. The call's place is unique within the reply, which is all that the wire format
        // demands.
        call_id: call.id?.toWellFormed() ?? `call_${place}`,
        name: call.name.toWellFormed(),
        arguments: call.pieces.join("").toWellFormed(),
        ...(call.signature === null ? {} : { provider_metadata: { google: { thoughtSignature: call.signature.toWellFormed() } } }),
      });
    }
    return parts;
  }

  /**
   * Some providers send index 0 for every call, some send no index. A delta with a name and another id then starts a new
   * call. Some repeat the name, and the id if there is one, in each piece.
   */
  #continues(delta: WireToolDelta): OpenCall | undefined {
    const startsAnother = (call: OpenCall) => delta.name !== null && delta.id !== null && call.id !== null && call.id !== delta.id;
    if (delta.index !== null) return this.#calls.findLast((call) => call.index === delta.index && !startsAnother(call));
    const last = this.#calls.at(-1);
    if (delta.name === null) return this.#calls.findLast((call) => delta.id !== null && call.id === delta.id) ?? last;
    return last && last.name === delta.name && last.id === delta.id && !isWhole(last) ? last : undefined;
  }

  #open(delta: WireToolDelta): OpenCall {
    const call: OpenCall = { index: delta.index, id: null, name: null, signature: null, pieces: [] };
    this.#calls.push(call);
    return call;
  }
}

/** Its arguments are complete, so that more of the same name is another call. */
function isWhole({ pieces }: OpenCall): boolean {
  try {
    JSON.parse(pieces.join(""));
    return true;
  } catch {
    return false;
  }
}
