/**
 * What an isolate knows of its tenants, for all sessions and requests in it. Whichever look-up finds nothing asks the tenant's object for a
 * `TenantBrief`, which answers the others, too: a turn in an isolate that knows nothing of its tenant waits for one answer.
 */
import { setNewest } from "../../app/known-answers";
import { createKnownInterest, type KnownInterestCache } from "../../app/known-interest";
import type { Background, Clock, ModelSpec } from "../../app/ports";
import type { Schedule } from "../../app/session-ports";
import type { SealedCredential, TenantBrief, TenantSettings } from "../../app/tenant-api";
import type { LimitSet } from "../../contract/limits";
import { parseId, type TenantId } from "../../domain/ids";
import type { Standing } from "../../domain/tenant-status";
import { type BudgetCache, createBudgetCache } from "./budget-source";
import { type Asked, createLookUpCache, type LookUp } from "./look-up-cache";

/** A suspension refuses access tokens, and lets no turn start, within this time. */
const STANDING_TTL_MS = 10_000;
/** Tenants of which an isolate knows the standing, limits, budgets and interest. */
const KNOWN_TENANTS = 10_000;
/** Models, and credentials, of all tenants that an isolate keeps. */
const KNOWN_MODELS = 20_000;

interface KnowledgeDeps {
  /** Null: there is no such tenant. `model`: the brief has it, too. */
  readonly ask: (tenant: TenantId, model: string | null) => Promise<TenantBrief | null>;
  readonly askCredential: (tenant: TenantId, name: string) => Promise<SealedCredential | null>;
  /** Learns where the tenant's rows are. */
  readonly place: (tenant: TenantId, placement: TenantBrief["placement"], askedAt: number) => void;
  readonly now: Clock;
  readonly generation: (tenant: string) => number;
  readonly background?: Background;
  readonly schedule: Schedule;
}

/** Throws where nothing is known and the tenant's object is out of reach. Null: there is no such tenant, model or credential. */
interface TenantKnowledge {
  readonly standing: LookUp<Standing>;
  readonly settings: LookUp<TenantSettings>;
  limits(tenant: TenantId): Promise<LimitSet | null>;
  readonly budgets: BudgetCache;
  readonly interest: KnownInterestCache;
  model(tenant: TenantId, id: string): Promise<ModelSpec | null>;
  credential(tenant: TenantId, name: string): Promise<SealedCredential | null>;
  /** The next look-up brings this model with the rest. */
  expectModel(tenant: TenantId, id: string): void;
}

export function createTenantKnowledge(deps: KnowledgeDeps): TenantKnowledge {
  const { ask, askCredential, place, now, generation } = deps;
  const shared = { now, generation, max: KNOWN_TENANTS, schedule: deps.schedule, ...(deps.background && { background: deps.background }) };
  const ofTenant = { ...shared, max: KNOWN_MODELS, generation: (name: string) => generation(split(name).tenant) };
  /** The model that was looked up last, of each tenant. */
  const expected = new Map<string, string>();

  const expectModel = (tenant: string, id: string): void => setNewest(expected, [tenant, id], KNOWN_TENANTS);

  async function brief(name: string): Promise<TenantBrief | null> {
    const tenant = parseId("ten", name);
    if (!tenant) return null;
    const asked: Asked = { at: now(), generation: generation(tenant) };
    const mark = interest.mark();
    const answer = await ask(tenant, expected.get(tenant) ?? null);
    if (answer) learn(tenant, answer, { ...asked, mark });
    return answer;
  }

  function learn(tenant: TenantId, answer: TenantBrief, asked: Asked & { readonly mark: number }): void {
    standing.learn(tenant, answer.standing, asked);
    settings.learn(tenant, answer.settings, asked);
    limits.learn(tenant, { limits: answer.limits }, asked);
    budgets.learn(tenant, answer.budgets, asked);
    // Unknown, it is asked for behind the turn: only an answer that is younger than an event says that no endpoint wants it.
    if (interest.isKnown(tenant)) interest.learn(tenant, answer.interest, asked);
    place(tenant, answer.placement, asked.at);
    if (!answer.model) return;
    const { spec, credential } = answer.model;
    models.learn(join(tenant, spec.id), spec, asked);
    if (credential) credentials.learn(join(tenant, credential.name), credential.sealed, asked);
  }

  const standing = createLookUpCache<Standing>({
    ...shared,
    ttlMs: STANDING_TTL_MS,
    ask: async (tenant) => (await brief(tenant))?.standing ?? null,
  });
  const settings = createLookUpCache<TenantSettings>({ ...shared, ask: async (tenant) => (await brief(tenant))?.settings ?? null });
  const limits = createLookUpCache<Pick<TenantBrief, "limits">>({ ...shared, ask: brief });
  const budgets = createBudgetCache({ ...shared, ask: async (tenant) => (await brief(tenant))?.budgets ?? null });
  const interest = createKnownInterest({ ...shared, ask: async (tenant) => (await brief(tenant))?.interest ?? null });
  const models = createLookUpCache<ModelSpec>({
    ...ofTenant,
    ask: async (name) => {
      const { tenant, rest } = split(name);
      expectModel(tenant, rest);
      return (await brief(tenant))?.model?.spec ?? null;
    },
  });
  const credentials = createLookUpCache<SealedCredential>({
    ...ofTenant,
    ask: async (name) => {
      const { tenant, rest } = split(name);
      const owner = parseId("ten", tenant);
      return owner && askCredential(owner, rest);
    },
  });
  return {
    standing,
    settings,
    limits: async (tenant) => (await limits(tenant))?.limits ?? null,
    budgets,
    interest,
    model: (tenant, id) => models(join(tenant, id)),
    credential: (tenant, name) => credentials(join(tenant, name)),
    expectModel,
  };
}

/** Ids of tenants have no space. */
const join = (tenant: TenantId, rest: string): string => `${tenant} ${rest}`;

function split(name: string): { readonly tenant: string; readonly rest: string } {
  const end = name.indexOf(" ");
  return { tenant: name.slice(0, end), rest: name.slice(end + 1) };
}
