import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { readRows } from "../read-model/rows";
import { type Chat, migrate, newChat, readBody } from "./support";

beforeAll(migrate);

/** The session's rows of the usage table, oldest first. */
async function readUsage(chat: Chat) {
  const { usage = {} } = await readRows(env.DB, { tenant: chat.tenant.id, session: chat.id });
  return Object.values(usage).map(({ purpose, outcome, input, estimate }) => ({
    purpose,
    outcome,
    input,
    estimated: Number(estimate) > 0,
  }));
}

/** A chat whose model has begun to answer and waits. */
async function speaking() {
  const chat = await newChat({ replies: [{ deltas: ["Once upon ", { gate: "never" }, "a time."] }] });
  const frames = await chat.hear("tell me");
  const delta = await frames.until("text.delta");
  return { chat, frames, turn: delta.turn_id };
}

describe("a model call that was made is in the ledger", () => {
  it("when the turn was stopped in the middle of it, with the digest of what was sent", async () => {
    const { chat, frames } = await speaking();
    await readBody(await chat.call("POST", "/stop"));
    await frames.rest();

    const [call] = (await chat.events()).filter((event) => event.type === "ModelCallFinished");
    expect(call).toMatchObject({ outcome: "aborted", usage: null, request_digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
    await expect.poll(() => readUsage(chat)).toEqual([{ purpose: "turn", outcome: "aborted", input: null, estimated: true }]);
  });

  it("when its object died in the middle of it", async () => {
    const { chat, turn } = await speaking();
    await abortAllDurableObjects();

    expect(await chat.ended(turn)).toMatchObject({ status: "interrupted" });
    const [call] = (await chat.events()).filter((event) => event.type === "ModelCallFinished");
    expect(call).toMatchObject({ outcome: "crashed", usage: null, request_digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
    await expect.poll(() => readUsage(chat)).toEqual([{ purpose: "turn", outcome: "crashed", input: null, estimated: true }]);
  });
});
