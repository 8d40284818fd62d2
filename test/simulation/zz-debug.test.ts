import { test } from "vitest";
import { simulate } from "./simulate";
import { Stats } from "./stats";

test("x", async () => {
  const stats = new Stats();
  const t = performance.now();
  const from = Number(process.env.FROM ?? 1),
    to = Number(process.env.TO ?? 200);
  const kinds = new Map<string, { n: number; first: string }>();
  let steps = 0;
  for (let s = from; s <= to; s++) {
    const r = await simulate(s);
    steps += r.steps;
    stats.add(r.stats);
    if (r.violation) {
      const k = r.violation.message.replace(/\d+/g, "N").slice(0, 70);
      const e = kinds.get(k) ?? { n: 0, first: `${s} ${r.steps}: ${r.violation.message.slice(0, 400)}` };
      e.n++;
      kinds.set(k, e);
    }
  }
  process.stdout.write(`${steps} steps ${(performance.now() - t) | 0} ms\n${stats}\n`);
  for (const [, e] of [...kinds].sort((a, b) => b[1].n - a[1].n)) process.stdout.write(`\n${e.n}x seed ${e.first}\n`);
}, 3_000_000);
