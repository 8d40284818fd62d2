import { test } from "vitest";
import { inspect, simulate } from "./simulate";

test("x", async () => {
  const r = await simulate(Number(process.env.SEED));
  process.stdout.write(`${r.violation?.message}\n`);
  const { world, log } = inspect();
  const n = Number(process.env.N ?? 25);
  for (const e of log.events.slice(-n)) process.stdout.write(JSON.stringify(e).slice(0, 420) + "\n");
  process.stdout.write(
    JSON.stringify(
      {
        ...log.replayed,
        view: {
          ...log.replayed.view,
          items: log.replayed.view.items.map((i) => [i.position, i.kind, i.tokens, i.incomplete ?? false].join()),
        },
      },
      null,
      1,
    ).slice(0, 4000) + "\n",
  );
  void world;
});
