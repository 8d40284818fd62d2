/** A draft in progress, and a turn whose policy would compact before it: no other summariser is called, and `context` says so. */
import { expect, test } from "vitest";
import { CALLER } from "./life";
import { ask, newLife, ROOMY, say } from "./talk";

const EACH_CALL = '{"preset":"oneclaw","trigger":{"at":"each_call","window_ratio":0.3},"keep":{"ratio":0.1}}';

test("what the next request is foreseen to show is what it shows", async () => {
  const life = await newLife({ policy: '{"preset":"oneclaw"}', spec: { ...ROOMY, context_window: 8_000 } });
  for (let n = 1; n <= 6; n++) await say(life, `question ${n} ${"word ".repeat(240)}`, `reply ${n} ${"word ".repeat(240)}`);
  expect(await life.service.patch(CALLER, { policy: JSON.parse(EACH_CALL) })).toMatchObject({ ok: true });
  expect(await ask(life, { draft: true, keepRecent: 256 })).toMatchObject({ kind: "requested" });

  const foreseen = await life.service.context(CALLER, { content: [{ type: "text", text: "and then?" }] });
  await life.send("and then?");

  expect(foreseen).toMatchObject({ ok: true, value: { compaction_first: null } });
  expect(life.asked.at(-1)).toBe("t");
  expect(life.call.messages).toHaveLength(13);
});
