/** What `wrangler deploy` takes from the repository as it is. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { unstable_readConfig as readConfig } from "wrangler";

/** The types of `Config` omit this field. */
interface Consumer {
  readonly queue: string;
  readonly dead_letter_queue?: string;
}

const config = readConfig({ config: join(import.meta.dirname, "..", "..", "wrangler.toml") });

test("a deployment is production unless its owner says otherwise: only local servers are dev", () => {
  expect(config.vars.ENVIRONMENT).toBe("production");
});

test("a deployment counts floods by default, with the figure that docs/tenant-limits.md derives", () => {
  const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "tenant-limits.md"), "utf8");
  const [, limit = "", period] = page.match(/\*\*The figure\*\* is ([\d,]+) requests in (\d+) seconds/) ?? [];
  const simple = { limit: Number(limit.replace(",", "")), period: Number(period) };
  expect(config.ratelimits).toMatchObject([{ name: "FLOODS", simple }]);
});

test("the Worker reads the dead-letter queue that the queue of compactions names, and knows it by that name", () => {
  const consumers: readonly Consumer[] = config.queues.consumers ?? [];
  const [dead] = consumers.flatMap(({ dead_letter_queue }) => dead_letter_queue ?? []);
  expect(dead).toBeDefined();
  expect(config.vars.DEAD_LETTER_QUEUE).toBe(dead);
  expect(consumers.map(({ queue }) => queue)).toContain(dead);
});
