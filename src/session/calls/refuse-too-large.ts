/** What every request carries, whatever is compacted, must leave room for a conversation. */
import { limitsOf } from "../../app/build-request";
import type { ModelSpec } from "../../app/ports";
import type { Outcome } from "../../app/session-api";
import { limitOf, PADDING } from "../../context/budget";
import type { TextRef } from "../../domain/message";
import { err } from "../../lib/result";

export interface FixedTexts {
  readonly system: TextRef | null;
  readonly tools: TextRef | null;
  readonly pins: readonly TextRef[];
}

/** System prompt, tools and pins that leave no room are refused, by the name of the heaviest, before anything is stored. */
export function refuseTooLarge(spec: ModelSpec, { system, tools, pins }: FixedTexts): Outcome<never> | null {
  const limit = limitOf(limitsOf(spec));
  if (limit === null) return null;
  const weights = [
    { field: "system", tokens: planned([system]) },
    { field: "tools", tokens: planned([tools]) },
    { field: "pins", tokens: planned(pins) },
  ];
  if (weights.reduce((sum, { tokens }) => sum + tokens, 0) < limit) return null;
  const heaviest = weights.reduce((most, next) => (next.tokens > most.tokens ? next : most));
  const detail = `about ${heaviest.tokens} tokens, and ${spec.id} takes requests of ${limit}`;
  return err({ code: "invalid", field: heaviest.field, detail });
}

const planned = (texts: readonly (TextRef | null)[]): number =>
  Math.ceil(texts.reduce((sum, text) => sum + (text?.tokens ?? 0), 0) * PADDING);
