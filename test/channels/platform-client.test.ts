/** What the core concludes of a request to a chat platform. "Not sent" is tried again, so it must be certain. */
import { describe, expect, it } from "vitest";
import type { PlatformAnswer } from "../../src/app/channels/chat-ports";
import { createPlatformClient } from "../../src/channels/chat/platform-client";
import { Network, type NetworkInput } from "../tools/fake-network";

const URL = "https://platform.example/send";

function ask(input: NetworkInput): Promise<PlatformAnswer> {
  const { fetch } = new Network(input);
  const send = createPlatformClient({ fetch, schedule: () => () => {} });
  return send({ method: "POST", url: URL, headers: {}, body: "{}" });
}
const askStatus = (status: number, body = ""): Promise<PlatformAnswer> => ask({ answers: { [URL]: () => new Response(body, { status }) } });

describe("a request was not sent", () => {
  it.each([
    ["the address is refused", ["10.0.0.1"], "refused_address"],
    ["the resolver did not answer", ["?"], "unreachable"],
    ["the name has no address", [], "unreachable"],
  ])("when %s", async (_, addresses, reason) => {
    expect(await ask({ names: { "platform.example": addresses } })).toEqual({ kind: "not_sent", reason });
  });

  it.each([521, 523, 525, 526])("when Cloudflare's network answers that it made no connection: %i", async (status) => {
    expect(await askStatus(status)).toEqual({ kind: "not_sent", reason: `no connection (${status})` });
  });

  it("when Cloudflare's network answers that it did not resolve the name", async () => {
    expect(await askStatus(530, "error code: 1016")).toEqual({ kind: "not_sent", reason: "no connection (530)" });
  });
});

describe("a request may have arrived", () => {
  it("when it left and the connection was lost", async () => {
    const lost = () => {
      throw new Error("Network connection lost.");
    };
    expect(await ask({ answers: { [URL]: lost } })).toEqual({ kind: "no_answer" });
  });

  it.each([520, 522, 524])("when Cloudflare's network answers that the server's answer was broken or late: %i", async (status) => {
    expect(await askStatus(status)).toEqual({ kind: "no_answer" });
  });

  it("when the answer breaks off", async () => {
    const cut = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.error(new Error("cut")),
        }),
      );
    expect(await ask({ answers: { [URL]: cut } })).toEqual({ kind: "no_answer" });
  });
});

it.each([200, 429, 500, 502, 503, 504])("the platform's own answer %i is for its adapter to read", async (status) => {
  expect(await askStatus(status, "said")).toMatchObject({ kind: "answered", response: { status, body: "said" } });
});

it("an error of Cloudflare's network that is not about the name (530) is for the adapter to read", async () => {
  expect(await askStatus(530, "error code: 1033")).toMatchObject({ kind: "answered" });
});
