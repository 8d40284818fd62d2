/** A stream without its own end closes when the key that opened it is revoked. The test uses a real session and revokes the key. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { sessionObjectName } from "../../src/app/object-name";
import type { Principal } from "../../src/app/principal";
import { KEY_CHECK_MS } from "../../src/http/bound-stream";
import { principal, SETTINGS, world } from "../http/support";
import { FakeSchedule } from "../support/fake-schedule";
import { type Chat, migrate, newChat, toFrames } from "./support";

beforeAll(migrate);

class Door {
  readonly time = new FakeSchedule();
  /** The result of a check of the key. */
  look: () => Promise<Principal | null>;
  looks = 0;
  allowedOrigins: readonly string[] = [];
  readonly #call: ReturnType<typeof world>["call"];

  readonly chat: Chat;

  constructor(chat: Chat) {
    this.chat = chat;
    this.look = async () => ({ ...principal(), tenant: chat.tenant.id });
    const { call } = world({
      deps: {
        sessions: (tenant, session) => env.SESSIONS.getByName(sessionObjectName(tenant, session)),
        authenticate: () => {
          this.looks += 1;
          return this.look();
        },
        knownSettings: async () => ({ ...SETTINGS, allowed_origins: this.allowedOrigins }),
        schedule: this.time.schedule,
        newPipe: () => new IdentityTransformStream(),
      },
    });
    this.#call = call;
  }

  async listen(path: string, accept = "*/*", more: Readonly<Record<string, string>> = {}) {
    return toFrames(await this.#call("GET", `/v1/sessions/${this.chat.id}${path}`, { headers: { accept, ...more } }));
  }

  async hear(content: string) {
    const options = { body: { content }, headers: { accept: "text/event-stream" } };
    return toFrames(await this.#call("POST", `/v1/sessions/${this.chat.id}/messages`, options));
  }
}

const newDoor = async (): Promise<Door> =>
  new Door(await newChat({ replies: [{ deltas: ["Once ", { gate: "one" }, "upon a time."] }, { text: "more" }] }));

describe("a stream", () => {
  it.each([
    ["the live stream", "/stream?after=0", "*/*"],
    ["the log", "/events?after=0", "text/event-stream"],
  ])("of a revoked key ends at the next look, in good order: %s", async (_, path, accept) => {
    const door = await newDoor();
    const frames = await door.listen(path, accept);
    await door.chat.append("before");
    await frames.next();

    door.look = async () => null;
    door.time.advance(KEY_CHECK_MS);
    await frames.rest();
    await door.chat.append("after");

    expect(JSON.stringify(frames.seen)).not.toContain("after");
  });

  it("of a suspended tenant ends at the next look, in good order", async () => {
    const door = await newDoor();
    const frames = await door.listen("/stream?after=0");
    await door.chat.append("before");
    await frames.next();

    door.look = async () => ({ ...principal(), tenant: door.chat.tenant.id, suspended: true });
    door.time.advance(KEY_CHECK_MS);
    await frames.rest();
    await door.chat.append("after");

    expect(JSON.stringify(frames.seen)).not.toContain("after");
  });

  it("of a page ends at the next look once its origin is not allowed any more", async () => {
    const door = await newDoor();
    const origin = "https://app.example.com";
    door.allowedOrigins = [origin];
    const frames = await door.listen("/stream?after=0", "*/*", { origin });
    await door.chat.append("before");
    await frames.next();

    door.allowedOrigins = [];
    door.time.advance(KEY_CHECK_MS);

    await frames.rest();
    await door.chat.append("after");
    expect(JSON.stringify(frames.seen)).not.toContain("after");
  });

  it("of a valid key continues, and is checked once each interval, however many frames it has", async () => {
    const door = await newDoor();
    const frames = await door.listen("/stream?after=0");
    const opened = door.looks;

    for (let n = 1; n <= 3; n++) {
      await door.chat.append(`message ${n}`);
      await frames.until("message.accepted");
      door.time.advance(KEY_CHECK_MS);
      await door.look();
    }

    expect(door.looks - opened).toBe(3);
    await frames.leave();
  });

  it("continues while the key cannot be checked", async () => {
    const door = await newDoor();
    const frames = await door.listen("/stream?after=0");

    door.look = () => Promise.reject(new Error("the tenant's object is out of reach"));
    door.time.advance(KEY_CHECK_MS);
    await door.chat.append("still here");

    await frames.until("message.accepted");
    await frames.leave();
  });

  it("of a turn continues to the turn's end for the client that started it", async () => {
    const door = await newDoor();
    const frames = await door.hear("tell me");
    await frames.until("text.delta");

    door.look = async () => null;
    door.time.advance(KEY_CHECK_MS);
    await door.chat.model.open("one");

    expect((await frames.rest()).at(-1)?.type).toBe("turn.completed");
  });
});
