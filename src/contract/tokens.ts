/**
 * Figures: counts of tokens with their certainty, and money.
 *
 * The size of a request or a text is a `tokenFigure`: the context, a message, a plan, a receipt's before and after, a look-up's text, a
 * compared summary. All other numbers of tokens stay plain: gains of rungs, weights in a context diff, caps and limits, usage as the provider
 * reported it, evaluation results, and numbers in errors.
 */
import { z } from "@hono/zod-openapi";
import type { Certainty } from "../domain/receipt";
import { domainShape } from "./domain-shape";

export const tokenFigure = z.object({
  tokens: z.number(),
  source: z.enum(["reported", "estimated", "mixed"]).openapi({
    description:
      "reported: the provider counted the tokens; estimated: this service estimated them; mixed: reported up to a position, estimated after it",
  }),
  error_bound: z
    .number()
    .openapi({ description: "The largest error of `tokens`, in either direction. Decisions use `tokens` and this bound together" }),
});
export type TokenFigure = z.infer<typeof tokenFigure>;

/** How a number of tokens is known, beside the number itself. */
export const certainty = domainShape<Certainty>()(tokenFigure.omit({ tokens: true }));

/** US dollars. Null means unknown, never free. */
export const dollars = z.number().nullable();
