/** Every log line of a session says which request it serves, or that it is background work. */
import { beforeEach, describe, expect, it } from "vitest";
import { serveRequest } from "../../src/lib/request-scope";
import { ringAlarm } from "../../src/session/alarm";
import { CALLER, failure, Life, settle } from "./life";

const message = (text: string) =>
  ({ role: "user", parts: [{ type: "text", text }], run: true, onBusy: "queue", tools: null, idempotency: null }) as const;

let life: Life;
beforeEach(async () => {
  life = new Life();
  await life.open();
});

const submit = async (request: string): Promise<void> => {
  await serveRequest(request, () => life.service.submit(CALLER, message(request)));
  await settle();
};
const fail = async (): Promise<void> => {
  await life.say(failure("auth"));
};
/** The event of each line, with what it names. */
const lines = (target: Life = life) => target.log.lines.map(({ event, fields }) => [event, fields.request_id ?? fields.work]);

describe("a log line of a session", () => {
  it("of a turn names the request that asked for the turn, also where the turn waited behind another", async () => {
    for (const request of ["first", "second"]) await submit(request);
    await fail();
    await fail();

    const failed = lines().filter(([event]) => event === "turn_failed");
    expect(failed).toEqual([
      ["turn_failed", "first"],
      ["turn_failed", "second"],
    ]);
  });

  it("of a turn keeps the name while another request is served", async () => {
    await submit("first");
    const reading = serveRequest("reader", () => life.service.describe(CALLER));
    await fail();
    await reading;

    expect(lines()).toContainEqual(["turn_failed", "first"]);
    expect(lines().flat()).not.toContain("reader");
  });

  it("of a call behind an await names its own request, whatever is served meanwhile", async () => {
    life.acts = { record: async () => Promise.reject(new Error("away")) };
    const act = { actor: { kind: "key", id: "key_1" }, request_id: "x" } as const;
    const rename = (request: string) =>
      serveRequest(request, () =>
        life.service.patch({ ...CALLER, act }, { title: request } as Parameters<typeof life.service.patch>[1], undefined),
      );
    await Promise.all([rename("one"), rename("two")]);

    expect(lines().toSorted()).toEqual([
      ["acts_not_recorded", "one"],
      ["acts_not_recorded", "two"],
    ]);
  });

  it("of the alarm says that it is background work, as does a turn that another life recovers", async () => {
    life.acts = { record: async () => Promise.reject(new Error("away")) };
    const act = { actor: { kind: "key", id: "key_1" }, request_id: "x" } as const;
    await serveRequest("one", () =>
      life.service.patch({ ...CALLER, act }, { title: "t" } as Parameters<typeof life.service.patch>[1], undefined),
    );
    await life.advance(60 * 1_000);
    await life.advance(2 * 60 * 60 * 1_000);
    ringAlarm(life.runtime);
    await settle();

    expect(lines()).toEqual([
      ["acts_not_recorded", "one"],
      ["acts_not_recorded", "background"],
    ]);
  });
});

it("what a turn says after its object was lost is background work", async () => {
  await submit("first");
  const next = new Life(life.sql, "life-2");
  await serveRequest("reader", () => next.service.describe(CALLER));
  await settle();
  await next.say(failure("auth"));

  expect(lines(next)).toContainEqual(["turn_failed", "background"]);
  expect(lines(next).flat()).not.toContain("reader");
});
