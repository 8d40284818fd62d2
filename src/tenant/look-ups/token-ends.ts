/** Refuses access tokens that were made for an end user before that end user's erasure. */
import type { Background, Clock } from "../../app/ports";
import type { VerifiedHolder } from "../../app/principal";
import type { Schedule } from "../../app/session-ports";
import { parseId, type TenantId } from "../../domain/ids";
import { createLookUpCache } from "./look-up-cache";

interface TokenEndsDeps {
  /** Before when a token of the end user must have been made to be refused. 0: none is. */
  readonly ask: (tenant: TenantId, endUser: string) => Promise<number>;
  readonly now: Clock;
  readonly readGeneration: (tenant: string) => number;
  /** The end users whose answers are kept. */
  readonly max: number;
  readonly background?: Background;
  readonly schedule?: Schedule;
}

const SEPARATOR = "/";

/** Returns the holder, or null when the token has ended. Answers are cached: another isolate refuses within the cache's time. */
export function createTokenEnds({ ask, now, readGeneration, max, background, schedule }: TokenEndsDeps) {
  const lookUp = createLookUpCache<number>({
    ask: async (name) => {
      const tenant = parseId("ten", toTenant(name));
      return tenant && ask(tenant, name.slice(tenant.length + SEPARATOR.length));
    },
    now,
    generation: (name) => readGeneration(toTenant(name)),
    max,
    ...(background && { background }),
    ...(schedule && { schedule }),
  });
  return async (holder: VerifiedHolder | null): Promise<VerifiedHolder | null> => {
    const endUser = holder?.access_token.reach.end_user;
    if (!holder || endUser === undefined) return holder;
    const before = (await lookUp(holder.tenant + SEPARATOR + endUser)) ?? 0;
    return holder.issued_at <= before ? null : holder;
  };
}

const toTenant = (name: string): string => name.slice(0, name.indexOf(SEPARATOR));
