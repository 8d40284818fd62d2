/** The compactions and the total cost, as the API reports them. */
import { z } from "zod";
import { waitForCompactions } from "../replay/settle.ts";
import { callApi } from "../support/api-client.ts";
import type { Talk } from "./hold-turn.ts";

const figure = z.object({ tokens: z.number() });

const page = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      trigger: z.string(),
      status: z.string(),
      failure: z.string().nullable(),
      ops: z.array(z.object({ op: z.string() })),
      receipt: z
        .object({ tokens_before: figure, tokens_after: figure, items_before: z.number(), items_after: z.number(), ms: z.number() })
        .nullable(),
    }),
  ),
});
type Compaction = z.infer<typeof page>["data"][number];

/** The receipts that are not in `shown` yet, oldest first. Waits for compactions that run in the background. */
export async function showCompactions({ connection, session, write }: Talk, shown: Set<string>): Promise<void> {
  await waitForCompactions(connection, [session]);
  const { data } = page.parse(
    await callApi(connection, { method: "GET", path: `/v1/sessions/${session}/compactions?order=desc&limit=20` }),
  );
  for (const compaction of data.toReversed()) {
    if (shown.has(compaction.id)) continue;
    shown.add(compaction.id);
    write(`  — ${describe(compaction)}\n`);
  }
}

function describe({ trigger, status, failure, ops, receipt }: Compaction): string {
  if (!receipt) return `compaction (${trigger}) ${status}${failure === null ? "" : `: ${failure}`}`;
  const { tokens_before, tokens_after, items_before, items_after, ms } = receipt;
  const what = [...new Set(ops.map(({ op }) => op))].join(", ");
  return `compaction (${trigger}: ${what}): ${tokens_before.tokens} → ${tokens_after.tokens} tokens, ${items_before} → ${items_after} items, ${Math.round(ms)} ms`;
}

const session = z.object({
  current_context_tokens: figure,
  context_window: z.number().nullable(),
  total_tokens: z.number(),
  /** Dollars of the calls whose cost is known. Null when none is known, which is never 0. */
  usage: z.object({ cost: z.number().nullable(), unpriced_calls: z.number() }),
});
type Spent = z.infer<typeof session>["usage"];

export function describeCost({ cost, unpriced_calls }: Spent): string {
  if (cost === null) return "cost unknown (no price for this model, or no count of what it used)";
  const calls = unpriced_calls === 1 ? "1 call" : `${unpriced_calls} calls`;
  return `cost $${cost.toFixed(6)}${unpriced_calls === 0 ? "" : `, without ${calls} of unknown cost`}`;
}

export async function showTotals(talk: Talk, turns: number): Promise<void> {
  const { connection, write } = talk;
  const said = session.parse(await callApi(connection, { method: "GET", path: `/v1/sessions/${talk.session}` }));
  write(
    `\n${turns} turns; ${said.total_tokens} tokens in all calls, ${describeCost(said.usage)}; context ${said.current_context_tokens.tokens} of ${said.context_window ?? "unknown"} tokens\n`,
  );
}
