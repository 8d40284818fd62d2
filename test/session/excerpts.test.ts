/** What a provider said of a failure is kept in the session's object alone, as content, and shown to the owner of the key that was called. */
import { describe, expect, test } from "vitest";
import type { ModelSpec, ProjectionBatch } from "../../src/app/ports";
import { everything, findId } from "./contents";
import { CALLER, Life, SPEC, settle } from "./life";

const OWN: ModelSpec = { ...SPEC, provider: "openai-compatible", base_url: "https://example.org/v1", source: "tenant" };
const SAID = "Message 3 is not allowed: the parrots are called Ada and Grace";
const refuse = (message: string) => ({ type: "failure", failure: { kind: "auth", status: 401, message } }) as const;

async function fail(spec: ModelSpec, message = SAID, life = new Life()): Promise<Life> {
  life.models = { resolve: async () => spec };
  await life.open();
  await life.send("what are the parrots called?");
  await life.say(refuse(message));
  return life;
}

async function readFailure(life: Life) {
  const turns = await life.service.turns(CALLER, { after: null, limit: 10, order: "desc" });
  return turns.ok ? turns.value.data[0]?.failure : null;
}

describe("what the provider said of a failure", () => {
  test.each<[string, ModelSpec]>([
    ["its own credential", { ...OWN, credential: "mine" }],
    ["its own address", OWN],
  ])("is shown with the turn and not in its stream, where the tenant's model has %s", async (_, spec) => {
    const life = await fail(spec);
    expect(await readFailure(life)).toMatchObject({ kind: "auth", reported: { message: SAID } });
    life.runtime.buffer.publish();
    expect(JSON.stringify(life.sql.all("SELECT lines FROM frames"))).not.toContain(SAID);
  });

  test.each<[string, ModelSpec]>([
    ["the deployment's model", { ...OWN, source: "deployment" }],
    ["the deployment's key at the provider's own address", { ...OWN, provider: "openai", base_url: null }],
  ])("is not kept for %s", async (_, spec) => {
    const life = await fail(spec);
    expect(await readFailure(life)).toMatchObject({ kind: "auth" });
    expect(everything(life)).not.toContain("parrots are called Ada");
  });

  test("is in no event, no log line, no read model and no export", async () => {
    const life = new Life();
    const written: ProjectionBatch[] = [];
    life.projection = { ...life.projection, write: async (batch) => void written.push(batch) };
    await fail(OWN, SAID, life);
    await life.advance(60_000);
    const rows = written.flatMap(({ events, bodies }) => [...events, ...bodies]);
    const exported = await life.service.exportLines(CALLER, { seq: null, after: null });
    expect(JSON.stringify(rows)).toContain("TurnFailed");
    expect(JSON.stringify(exported)).toContain("TurnFailed");
    expect(JSON.stringify([life.events(), life.log.lines, rows, exported])).not.toContain("Ada");
  });

  test("has at most 300 characters, in one line, without secrets and half characters", async () => {
    const life = await fail(OWN, `No\n  sk-live-0123456789abcdefghij ${"😀".repeat(200)}`);
    const message = (await readFailure(life))?.reported?.message ?? "";
    expect(message).toMatch(/^No \[secret:openai\] (?:😀)+$/u);
    expect(message.length).toBeLessThanOrEqual(300);
    expect(message.length).toBeGreaterThan(297);
  });

  test("goes with any redaction, from the turn, the stream and the object", async () => {
    const life = await fail(OWN);
    const done = await life.service.redact(CALLER, await findId(life, "what are the parrots"));
    await settle();
    expect(done.ok).toBe(true);
    expect(everything(life)).not.toContain("Ada");
    expect(await readFailure(life)).toMatchObject({ kind: "auth", status: 401 });
    expect((await readFailure(life))?.reported).toBeUndefined();
  });

  test("is not kept where a message was redacted since the request was built", async () => {
    const life = new Life();
    life.models = { resolve: async () => OWN };
    await life.open();
    await life.send("the parrots are called Ada and Grace");
    await life.answer("noted");
    await life.send("what are they called?");
    const done = await life.service.redact(CALLER, await findId(life, "Ada and Grace"));
    await settle();
    await life.say(refuse(SAID));
    expect([done.ok, life.runtime.state.last_turn?.status]).toEqual([true, "failed"]);
    expect(everything(life)).not.toContain("Ada");
  });

  test("names no signed address", async () => {
    const life = await fail(OWN, "Cannot fetch https://chat.example.com/v1/files/fil_1/content?signature=abc.def, sorry");
    expect((await readFailure(life))?.reported?.message).toBe(
      "Cannot fetch https://chat.example.com/v1/files/fil_1/content?[secret:query] sorry",
    );
  });

  test("is not kept where a later call of the turn succeeds", async () => {
    const life = new Life();
    life.models = { resolve: async () => OWN };
    await life.open();
    await life.send("hello");
    await life.say({ type: "failure", failure: { kind: "invalid_param", status: 400, refused: "stream_options", message: SAID } });
    await life.answer("hello");
    expect(life.runtime.state.last_turn?.status).toBe("completed");
    expect(everything(life)).not.toContain("Ada");
  });
});
