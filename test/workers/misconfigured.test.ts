import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { SessionObject } from "../../src/session/session-object";
import { migrate, newChat } from "./support";

beforeAll(migrate);

describe("over a deployment with a wrong variable", () => {
  it("a session's alarm still does what is due, and the next one is set: the platform drops one that keeps failing", async () => {
    const chat = await newChat({
      replies: [
        { gate: "never", text: "lost" },
        { gate: "never", text: "found" },
      ],
    });
    await chat.post("hello");
    await chat.model.heard(1);
    await abortAllDurableObjects();

    const alarm = await runInDurableObject(chat.stub, async (_, state) => {
      await state.storage.deleteAlarm();
      await new SessionObject(state, { ...env, KEY_PEPPER: "short", MODELS: "{" }).alarm();
      return state.storage.getAlarm();
    });

    expect(alarm).toBeGreaterThan(0);
    await chat.model.heard(2);
  });
});
