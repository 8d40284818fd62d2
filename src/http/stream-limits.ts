/**
 * Holds callers to their limits of concurrent streams. A stream counts for whom its request counts, from before anything is appended until it
 * ends or its client goes away.
 */
import type { Context, MiddlewareHandler } from "hono";
import type { Principal } from "../app/principal";
import { BEAT_MS } from "../app/slot-grants";
import { listSlotRules, toSlotRefusal } from "../app/slot-rules";
import type { TenantId } from "../domain/ids";
import type { SlotRefusal } from "../domain/rejection";
import { err, ok, type Result } from "../lib/result";
import { isStreamPath, readPrincipal } from "./auth";
import type { HttpDeps, HttpEnv } from "./deps";
import { acceptsEventStream } from "./negotiate";
import { sendProblem } from "./problem";
import { readLimits } from "./rate-limits";
import { runAfter, whenOver } from "./surface/throwaway";

interface StreamSlot {
  /** Gives the slots back, once. */
  readonly free: () => Promise<void>;
}

function holdSlot(giveBack: () => Promise<void>): StreamSlot {
  let freed: Promise<void> | null = null;
  return { free: () => (freed ??= giveBack()) };
}

/**
 * Streams of one tenant in one isolate, where no limit of its own counts them, and nothing is asked for them. Each may hold its buffers in the 128 MB
 * of the isolate, which serves other tenants, too. The tenant's own `concurrent_streams` replaces this bound; null removes it.
 */
export const STREAMS_OF_TENANT = 1_000;

const openStreams = new Map<TenantId, number>();

function countOpen(tenant: TenantId): Result<StreamSlot, SlotRefusal> {
  const open = openStreams.get(tenant) ?? 0;
  if (open >= STREAMS_OF_TENANT) return err(toSlotRefusal({ what: "streams", of: "tenant", id: "", limit: STREAMS_OF_TENANT }));
  openStreams.set(tenant, open + 1);
  const giveBack = async (): Promise<void> => {
    const left = (openStreams.get(tenant) ?? 1) - 1;
    if (left > 0) openStreams.set(tenant, left);
    else openStreams.delete(tenant);
  };
  return ok(holdSlot(giveBack));
}

const nothingHeld: StreamSlot = { free: async () => undefined };

/** Takes the caller's slots, and reports them as long as they are held. */
export async function openStreamSlot(principal: Principal, deps: HttpDeps): Promise<Result<StreamSlot, SlotRefusal>> {
  const limits = await readLimits(principal, deps);
  const { tenant, key, access_token } = principal;
  const rules = limits ? listSlotRules("streams", { key, end_user: access_token?.reach.end_user }, limits) : [];
  if (rules.length === 0) return limits?.tenant.concurrent_streams === null ? ok(nothingHeld) : countOpen(tenant);
  const { streamSlots: slots, schedule } = deps;
  const holder = { id: deps.newId("trn"), life: "" };
  const refused = await slots.take(tenant, holder, rules);
  if (refused) return err(toSlotRefusal(refused));
  let isHeld = true;
  let cancel = (): void => undefined;
  const arm = (): void => {
    cancel = schedule(BEAT_MS, () => void slots.report(tenant, holder, rules).then(() => isHeld && arm()));
  };
  arm();
  const giveBack = (): Promise<void> => {
    isHeld = false;
    cancel();
    return slots.release(tenant, holder, rules);
  };
  return ok(holdSlot(giveBack));
}

/** For a request that is about to open a stream. Null: it may. Its slots are given back when the answer is over. */
export async function refuseStream(c: Context<HttpEnv>, deps: HttpDeps): Promise<SlotRefusal | null> {
  if (c.get("freeStream")) return null;
  const opened = await openStreamSlot(readPrincipal(c), deps);
  if (!opened.ok) return opened.error;
  c.set("freeStream", () => runAfter(c, opened.value.free()));
  return null;
}

/** The native API says in the header that it wants events. Other vendors say it in the body, and their routes ask by `refuseStream`. */
const wantsEvents = (c: Context<HttpEnv>): boolean =>
  c.req.path.startsWith("/v1/sessions/") &&
  (acceptsEventStream(c.req.header("accept")) ? c.req.method !== "HEAD" : isStreamPath(c.req) && c.req.path.endsWith("/stream"));

/** Runs after `authenticate`. */
export function limitStreams(deps: HttpDeps): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const refused = c.get("principal") && wantsEvents(c) ? await refuseStream(c, deps) : null;
    if (refused) return sendProblem(c, refused);
    await next();
    freeWhenOver(c);
    return;
  };
}

function freeWhenOver(c: Context<HttpEnv>): void {
  const free = c.get("freeStream");
  if (!free) return;
  const { body, headers } = c.res;
  const isStream = body !== null && headers.get("content-type")?.startsWith("text/event-stream");
  if (!isStream) return free();
  const { signal } = c.req.raw;
  // A signal that is aborted already fires no event.
  if (signal.aborted) free();
  else signal.addEventListener("abort", free, { once: true });
  c.res = new Response(whenOver(body, free), c.res);
}
