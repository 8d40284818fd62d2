/**
 * How a call of the session's object is served: whose session it is, what is recovered first, and what a request must pay and wait for. A foreign
 * session is answered as if it did not exist.
 */

import type { Caller, Outcome } from "../app/session-api";
import type { AuditSubject } from "../contract/audit";
import type { TurnChoices } from "../domain/events";
import type { KeyId } from "../domain/ids";
import { isHeldToSessions, mayUseModel, reachesSession } from "../domain/key-restriction";
import { err } from "../lib/result";
import { isStorageFull } from "../lib/sync-sql";
import { actAs, deliverActsSoon, noteAct } from "./acts";
import { mayNeedAdmission, refuseUnpaid, type Starting } from "./calls/admit-turn";
import { readMetadata } from "./calls/read-calls";
import type { SessionRuntime } from "./runtime";

type Call<A extends readonly unknown[], T> = (runtime: SessionRuntime, ...args: A) => Outcome<T> | Promise<Outcome<T>>;
type ServedCall<A extends readonly unknown[], T> = (runtime: SessionRuntime, caller: Caller, ...args: A) => Promise<Outcome<T>>;
export type ServedCalls<Api> = {
  readonly [Name in keyof Api]: Api[Name] extends (caller: Caller, ...args: infer A) => Promise<Outcome<infer T>>
    ? ServedCall<A, T>
    : never;
};

/** Turns a full disk into an error that the caller expects: the failed write has stored nothing. */
export async function unlessFull<T>(work: () => Outcome<T> | Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await work();
  } catch (error) {
    if (isStorageFull(error)) return err({ code: "storage_full" });
    throw error;
  }
}

export const isCallers = ({ state }: SessionRuntime, caller: Caller): boolean =>
  state.lifecycle !== "new" && state.tenant === caller.tenant && state.session === caller.session;

/** An end user's access token reaches only that end user's sessions, and a restricted key those it is held to. All others are answered as if they did not exist. */
export function isReached(runtime: SessionRuntime, { end_user: only, restriction }: Caller): boolean {
  const isHeld = isHeldToSessions(restriction);
  if (only === undefined && !isHeld) return true;
  const end_user = runtime.content.readRefText(runtime.state.settings.end_user ?? null);
  return (
    (only === undefined || end_user === only) && (!isHeld || reachesSession(restriction, { end_user, metadata: readMetadata(runtime) }))
  );
}

const recover = (runtime: SessionRuntime, isRead: boolean): void => (isRead ? runtime.wakeIfPossible() : runtime.wake());

async function serve<T>(
  runtime: SessionRuntime,
  caller: Caller,
  {
    isRead = false,
    call,
  }: {
    readonly isRead?: boolean;
    readonly call: (session: SessionRuntime) => Outcome<T> | Promise<Outcome<T>>;
  },
): Promise<Outcome<T>> {
  if (!isCallers(runtime, caller) || !isReached(runtime, caller)) return err({ code: "session_not_found" });
  if (caller.isFull && !isRead) return err({ code: "storage_full" });
  // The platform may have dropped the alarm, so every call sets it again. That includes the jobs of an erased session.
  if (caller.isFull) runtime.progress.halt();
  else runtime.syncAlarm();
  if (runtime.state.lifecycle === "erased") return err({ code: "session_erased" });
  return unlessFull(async () => {
    if (!caller.isFull) recover(runtime, isRead);
    const outcome = await call(runtime);
    // The session may have been erased while the call waited. Its data is then missing through no mistake of the
    // client.
    return runtime.state.lifecycle === "erased" ? err({ code: "session_erased" }) : outcome;
  });
}

/** Serves a call that changes the session. It recovers an interrupted turn first. */
export const write =
  <A extends readonly unknown[], T>(call: Call<A, T>): ServedCall<A, T> =>
  (runtime, caller, ...args) =>
    serve(runtime, caller, { call: (session) => call(session, ...args) });

/** Tells the call the key of its caller. */
export const keyed =
  <I extends { readonly key?: KeyId }, T>(call: ServedCall<[I], T>): ServedCall<[I], T> =>
  (runtime, caller, input) =>
    call(runtime, caller, caller.key === undefined ? input : { ...input, key: caller.key });

/** Refuses what a restricted key would ask of another model than its own. It is answered as if that model did not exist. */
export function refuseModel({ state }: SessionRuntime, { restriction }: Caller, { model, run }: Asking): Outcome<never> | null {
  const asked = model ?? (run === false ? null : state.settings.model);
  return asked === null || mayUseModel(restriction, asked) ? null : err({ code: "unknown_model", model: asked });
}

/** Serves a call that may bring messages. */
export const bring = <A extends readonly unknown[], T>(call: Call<A, T>): ServedCall<A, T> =>
  write(async (runtime, ...args: A) => {
    await runtime.limits.learn();
    return call(runtime, ...args);
  });

/** `model`: absent or null, that of the session. `run`: whether a model is asked. Absent: one is. */
interface Asking extends Starting {
  readonly key?: KeyId;
}

/** Serves a call that asks a model. For a key that is held to some, a repeated turn is asked of the session's model, not of the one that it had. */
export const ask = <I extends Asking, T>(
  call: (runtime: SessionRuntime, input: I) => Outcome<T> | Promise<Outcome<T>>,
): ServedCall<[I], T> =>
  keyed((runtime, caller, input) => {
    const bound = caller.restriction?.models ? { ...input, model: input.model ?? null } : input;
    const work = (session: SessionRuntime) => refuseModel(session, caller, bound) ?? call(session, bound);
    return serve(runtime, caller, { call: work });
  });

/** Serves a call that only reads. It also answers while the disk is full and an interrupted turn cannot be recovered. */
export const read =
  <A extends readonly unknown[], T>(call: Call<A, T>): ServedCall<A, T> =>
  (runtime, caller, ...args) =>
    serve(runtime, caller, { isRead: true, call: (session) => call(session, ...args) });

/** Serves a call that begins a turn: a budget must pay for its first call, and a slot be free. `repeats`: what the repeated turn was asked with. */
export const begin = <I extends Asking, T>(
  call: (runtime: SessionRuntime, input: I) => Outcome<T> | Promise<Outcome<T>>,
  repeats: (runtime: SessionRuntime, input: I) => TurnChoices = () => ({}),
): ServedCall<[I], T> =>
  ask(async (runtime, input) => {
    const unpaid = mayNeedAdmission(runtime, input) ? await refuseUnpaid(runtime, input, repeats(runtime, input)) : null;
    return unpaid ?? (await runtime.limits.enter(input.key, () => call(runtime, input)));
  });

/** Serves a call that lets a waiting turn go on. It stays the turn of the key that began it. */
export const goOn = <I, T>(call: Call<[I], T>): ServedCall<[I], T> =>
  write((runtime, input) => runtime.limits.enter(runtime.state.turn?.key, () => call(runtime, input)));

/** Serves a call whose change is noted for the tenant's audit log, if the caller says who acts. */
export const acting =
  <A extends readonly unknown[], T>(
    action: AuditSubject["action"],
    call: (session: ReturnType<typeof actAs>, ...args: A) => Outcome<T> | Promise<Outcome<T>>,
  ): ServedCall<A, T> =>
  async (runtime, { act, ...caller }, ...args) => {
    if (!act) return write(call)(runtime, caller, ...args);
    const note = noteAct(runtime, { ...caller, act }, action);
    const outcome = await write((session, ...given: A) => call(actAs(session, note), ...given))(runtime, caller, ...args);
    if (outcome.ok) await deliverActsSoon(runtime, caller);
    return outcome;
  };
