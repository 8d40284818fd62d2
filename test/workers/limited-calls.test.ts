/** An object's answer by RPC is no `Promise`: a time limit holds it all the same. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { limitCalls } from "../../src/lib/timer";
import { sessionStub } from "../../src/wiring";
import { SESSION, TENANT } from "../support/builders";

it("a call of an object fails when its time is over, and is answered before", async () => {
  const stub = sessionStub(env, TENANT, SESSION);
  const caller = { tenant: TENANT, session: SESSION };
  const over = limitCalls(stub, 10, (_, work) => {
    queueMicrotask(work);
    return () => {};
  });
  const inTime = limitCalls(stub, 10, () => () => {});

  await expect(over.describe(caller)).rejects.toThrow("no answer within 10 ms");
  await expect(inTime.describe(caller)).resolves.toEqual({ ok: false, error: { code: "session_not_found" } });
});
