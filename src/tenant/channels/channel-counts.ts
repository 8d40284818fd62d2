/**
 * Counts what webhooks were refused and ignored for, in the isolate, and reports it to the tenant's object: the first of a kind at once, later
 * ones together a few seconds afterwards. So a flood of wrong signatures is few calls. Counts of an isolate that ends early are lost.
 */
import type { ChannelCount, CountChannelEvent } from "../../app/channels-api";
import type { Background, Clock, Log } from "../../app/ports";
import type { Schedule } from "../../app/session-ports";
import type { TenantId } from "../../domain/ids";
import { toErrorName } from "../../lib/error-name";

const WAIT_MS = 5_000;
/** A reporting that should have ended by now was cut off. The next event begins another. */
const ABANDONED_MS = 30_000;
/** Channels that are counted at a time. What is counted beyond them is lost. */
const MAX_CHANNELS_COUNTED = 1_000;
/** Kinds and reasons of a channel that are counted at a time. */
const MAX_COUNTS = 50;

interface CountDeps {
  readonly report: (tenant: TenantId, channel: string, counts: readonly ChannelCount[]) => Promise<unknown>;
  readonly now: Clock;
  readonly schedule: Schedule;
  readonly background: Background;
  readonly log: Log;
}

interface Counting {
  readonly tenant: TenantId;
  readonly channel: string;
  readonly counts: Map<string, ChannelCount>;
  /** When the reporting began. The platform may end it without a word. */
  readonly since: number;
}

export function createChannelCounts({ report, now, schedule, background, log }: CountDeps): CountChannelEvent {
  const counting = new Map<string, Counting>();

  async function send({ tenant, channel, counts }: Counting): Promise<void> {
    const taken = [...counts.values()];
    counts.clear();
    await report(tenant, channel, taken).catch((error: unknown) =>
      log.warn("channel.not_counted", { tenant_id: tenant, channel, error: toErrorName(error) }),
    );
  }

  /** Reports what is there, and after a while what came meanwhile. */
  async function run(name: string, each: Counting): Promise<void> {
    await send(each);
    await new Promise<void>((resolve) => void schedule(WAIT_MS, resolve));
    if (counting.get(name) === each) counting.delete(name);
    if (each.counts.size > 0) await send(each);
  }

  return ({ tenant, channel, kind, reason }) => {
    const name = `${tenant}/${channel}`;
    const found = counting.get(name);
    const known = found && now() - found.since < ABANDONED_MS ? found : undefined;
    if (!found && counting.size >= MAX_CHANNELS_COUNTED) return;
    const each = known ?? { tenant, channel, counts: found?.counts ?? new Map(), since: now() };
    const key = `${kind}/${reason}`;
    const before = each.counts.get(key);
    if (!before && each.counts.size >= MAX_COUNTS) return;
    each.counts.set(key, { kind, reason, at: now(), number: (before?.number ?? 0) + 1 });
    if (known) return;
    counting.set(name, each);
    background(run(name, each));
  };
}
