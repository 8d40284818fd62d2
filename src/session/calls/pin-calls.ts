/** Pins: texts, and copies of messages. A copy keeps what a provider wants together: a call with its result, a result with its call. */
import { type Condition, refuseUnmet } from "../../app/conditions";
import type { ControlApi, PinInput, PinsState } from "../../app/control-api";
import { buildTextBody } from "../../app/request/build-items";
import type * as api from "../../app/session-api";
import { renderPinned } from "../../context/pinned";
import type { ItemId } from "../../domain/ids";
import type { ItemMeta, PinRef } from "../../domain/message";
import { err, ok } from "../../lib/result";
import { findExecutionRow, readExecutions } from "../log/execution-rows";
import { readItems, readRanges } from "../log/log-tables";
import { findItemAnywhere } from "../log/session-past";
import type { Sql } from "../log/sql";
import type { Session } from "../session";
import { resolveSessionModel } from "./control-calls";
import { readAround } from "./message-pages";
import { showPins } from "./pin-views";
import { refuseTooLarge } from "./refuse-too-large";

/** Maximum length of a pin that was copied from a message, in UTF-16 units: every request repeats it. */
const MAX_COPY = 16_000;

interface NewPin {
  readonly text: string;
  /** The positions that it was copied from, the named one first. Absent: the text is the client's own. */
  readonly from?: readonly number[];
}

/** Sets the pins. The same pins in the same order change nothing: a change costs the provider's cache. */
export async function setPins(
  session: Session,
  pins: Parameters<ControlApi["setPins"]>[1],
  condition?: Condition,
): Promise<api.Outcome<PinsState>> {
  // An empty list fits every model.
  const spec = pins.length > 0 ? await resolveSessionModel(session) : null;
  if (spec && !spec.ok) return spec;
  // Nothing is awaited from here to the change, so that no other change comes in between.
  const { state, content, deps } = session;
  const unmet = refuseUnmet(condition, showPins(session).etag);
  if (unmet) return unmet;
  const wanted: NewPin[] = [];
  for (const [index, pin] of pins.entries()) {
    const read = readPin(session, pin, `pins.${index}`);
    if (!read.ok) return read;
    wanted.push(read.value);
  }
  const present = state.pins.map((pin) => ({ text: content.readRefText(pin) ?? "", ...(pin.from && { from: pin.from }) }));
  if (JSON.stringify(present) === JSON.stringify(wanted)) return ok(showPins(session));
  const drafted = wanted.map(({ text, from }) => {
    const { ref, bodies } = buildTextBody(text, deps.ids);
    return { bodies, refs: ref ? [from ? { ...ref, from } : ref] : [] };
  });
  const refs: PinRef[] = drafted.flatMap((draft) => draft.refs);
  const tooLarge = spec && refuseTooLarge(spec.value, { ...state.settings, pins: refs }, "pins");
  if (tooLarge) return tooLarge;
  const bodies = drafted.flatMap((draft) => draft.bodies);
  const set = session.execute({ type: "SetPins", at: deps.clock(), pins: refs }, bodies);
  return set.ok ? ok(showPins(session)) : err(set.error);
}

function readPin(session: Session, pin: PinInput, field: string): api.Outcome<NewPin> {
  if (typeof pin === "string") return ok({ text: pin });
  const { message_id = null, position = null, text } = pin;
  if (message_id === null && position === null) return ok({ text: text ?? "" });
  const named = findNamed(session.deps.sql, { message_id, position });
  if (!named.ok) return err({ code: "invalid", field: `${field}.${named.error.field}`, detail: named.error.detail });
  const copied = copyMessage(session, named.value);
  return copied.ok
    ? copied
    : err({ code: "invalid", field: `${field}.${message_id === null ? "position" : "message_id"}`, detail: copied.error });
}

interface Named {
  readonly message_id: ItemId | null;
  readonly position: number | null;
}

type Fault = { readonly ok: false; readonly error: { readonly field: "message_id" | "position"; readonly detail: string } };

/** Finds the named item on any branch: a pin outlives the branch on which it was set. */
function findNamed(sql: Sql, { message_id, position }: Named): { readonly ok: true; readonly value: ItemMeta } | Fault {
  const at = position === null ? undefined : readItems(sql, { from: position, to: position, limit: 1, order: "asc" })[0];
  if (message_id === null) return at ? ok(at) : err({ field: "position", detail: "no message has this position" });
  const item = at?.id === message_id ? at : findItemAnywhere(sql, message_id);
  if (!item) return err({ field: "message_id", detail: "no such message" });
  if (position !== null && item.position !== position) return err({ field: "position", detail: "is not the position of message_id" });
  return ok(item);
}

function copyMessage(
  { content, deps }: Session,
  named: ItemMeta,
): { readonly ok: true; readonly value: NewPin } | { readonly ok: false; readonly error: string } {
  if (named.redacted) return err("the message was redacted");
  const together = readTogether(deps.sql, named);
  if (!together) return err("has a call without a result, and a call is pinned with its result");
  const entries = content.readShown(together.toSorted((one, other) => one.position - other.position));
  const text = renderPinned(entries);
  if (text.length > MAX_COPY) return err(`${text.length} characters with all that belongs to it: at most ${MAX_COPY}`);
  const others = together.flatMap(({ position }) => (position === named.position ? [] : [position]));
  return ok({ text, from: [named.position, ...others.sort((one, other) => one - other)] });
}

/**
 * The named item with all that must not be separated from it: a reply with its calls and their results, a call inside a reply with its
 * result, a result with its call. Null when a call has no result.
 */
function readTogether(sql: Sql, named: ItemMeta): readonly ItemMeta[] | null {
  if (named.kind === "tool_result") {
    const call = named.tool && findExecutionRow(sql, named.tool.execution);
    return call ? [...readRanges(sql, [{ from: call.position, to: call.position }]), named] : [named];
  }
  if (named.kind !== "tool_call" && named.kind !== "assistant") return [named];
  const message = readAround(sql, named);
  const said = message[0]?.id === named.id ? message : [named];
  const calls = said.filter(({ kind }) => kind === "tool_call");
  const results = calls.map(({ position }) => readResult(sql, position));
  return results.every((result) => result !== null) ? [...said, ...results] : null;
}

function readResult(sql: Sql, call: number): ItemMeta | null {
  const place = readExecutions(sql, { from: call, to: call, limit: 1, order: "asc" })[0]?.result_position ?? null;
  return place === null ? null : (readItems(sql, { from: place, to: place, limit: 1, order: "asc" })[0] ?? null);
}
