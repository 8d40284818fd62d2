/** Log lines of failed turns, compactions, projections and alarms name the session and contain no content. */
import { expect, test } from "vitest";
import { withNames } from "../../src/app/named-log";
import { CALLER, failure, Life, notingLog } from "./life";

test("a failed turn and a failed projection are logged with tenant and session, without a word of the message", async () => {
  const life = new Life();
  life.projection.write = () => Promise.reject(new Error("D1 is away"));
  await life.open();
  await life.send("a secret question");
  await life.say({ type: "text", text: "a secret answer" }, failure("refused"));
  await life.advance(60_000);

  const events = life.log.lines.map(({ event }) => event);
  expect(events).toEqual(expect.arrayContaining(["turn_failed", "projection.failed"]));
  for (const { fields } of life.log.lines) expect(fields).toMatchObject({ tenant_id: CALLER.tenant, session: CALLER.session });
  expect(JSON.stringify(life.log.lines)).not.toContain("secret");
});

test("what cannot say whose it is is logged all the same", () => {
  const log = notingLog();
  const named = withNames(log, () => {
    throw new Error("the log cannot be read");
  });
  named.error("alarm_failed", { error: "TypeError" });
  expect(log.lines).toEqual([{ event: "alarm_failed", fields: { error: "TypeError" } }]);
});
