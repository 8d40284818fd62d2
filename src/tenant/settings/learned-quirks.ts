/**
 * What refusals taught about the endpoints of a tenant's models: per address and model, or for all models of an address. A lesson expires, so
 * that an endpoint that has changed is asked as usual again.
 */
import type { ModelOverride } from "../../app/model-entry";
import { MAX_REQUEST_BYTES, QUIRK_NAMES, type QuirkName, type Quirks, toQuirks } from "../../context/model-quirks";
import type { SyncSql } from "../../lib/sync-sql";

const DAY_MS = 24 * 60 * 60 * 1_000;
const LESSON_MS = 7 * DAY_MS;

type Model = Pick<ModelOverride, "provider" | "upstream_id" | "base_url">;
type Row = { readonly quirk: string; readonly value: string; readonly at: number };

export interface LearnedQuirk {
  readonly quirk: QuirkName;
  readonly value: Quirks[QuirkName];
  /** When it expires, epoch milliseconds. */
  readonly until: number;
}

interface LearnedQuirks {
  /** Call it inside a transaction. */
  add(model: Model, quirks: Quirks, at: number): void;
  /** The lessons that hold. */
  list(model: Model, now: number): readonly LearnedQuirk[];
  forget(model: Model): void;
}

/** The bound in bytes is the address's, whichever model is asked there. */
const toOwner = ({ upstream_id }: Model, quirk: QuirkName): string => (quirk === "max_request_bytes" ? "" : upstream_id);
const toAddress = ({ provider, base_url }: Model): string => base_url ?? provider;

export function createLearnedQuirks(sql: SyncSql): LearnedQuirks {
  return {
    add: (model, quirks, at) => {
      for (const quirk of QUIRK_NAMES) {
        const value = quirks[quirk];
        if (value === undefined) continue;
        sql.rows(
          `INSERT INTO learned_quirks (address, upstream_id, quirk, value, at) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (address, upstream_id, quirk) DO UPDATE SET value = excluded.value, at = excluded.at`,
          toAddress(model),
          toOwner(model, quirk),
          quirk,
          JSON.stringify(value),
          at,
        );
      }
    },
    list: (model, now) =>
      sql
        .rows<Row>(
          "SELECT quirk, value, at FROM learned_quirks WHERE address = ? AND upstream_id IN ('', ?) AND at > ?",
          toAddress(model),
          model.upstream_id,
          now - LESSON_MS,
        )
        .flatMap((row) => toLearned(row, now)),
    forget: (model) =>
      void sql.rows("DELETE FROM learned_quirks WHERE address = ? AND upstream_id IN ('', ?)", toAddress(model), model.upstream_id),
  };
}

/** Empty for a lesson that this build does not know, and for a bound that has been raised to the usual one. */
function toLearned({ quirk, value, at }: Row, now: number): readonly LearnedQuirk[] {
  const known = toQuirks({ [quirk]: JSON.parse(value) as unknown });
  const name = QUIRK_NAMES.find((each) => each in known);
  if (!name) return [];
  if (name !== "max_request_bytes") return [{ quirk: name, value: known[name], until: at + LESSON_MS }];
  const raised = raise(known.max_request_bytes ?? MAX_REQUEST_BYTES, now - at);
  return raised < MAX_REQUEST_BYTES ? [{ quirk: name, value: raised, until: at + LESSON_MS }] : [];
}

/** A bound was found by halving, or the proxy has been mended since: it doubles each day. */
const raise = (bytes: number, age: number): number => Math.min(MAX_REQUEST_BYTES, bytes * 2 ** Math.floor(Math.max(0, age) / DAY_MS));
