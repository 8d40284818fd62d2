import { describe, expect, it } from "vitest";
import { createResolveName } from "../../src/tools/resolve-name";
import { createTestClock } from "../tenant/support";

type Records = readonly { readonly type: number; readonly TTL?: number; readonly data: string }[];
const { signal } = new AbortController();

/** A DNS resolver that answers by record type. */
function resolver(answers: { readonly A?: Records | Response; readonly AAAA?: Records | Response }) {
  const clock = createTestClock();
  const asked: string[] = [];
  const fetch = async (input: RequestInfo | URL): Promise<Response> => {
    const url = new URL(String(input));
    asked.push(`${url.searchParams.get("name")} ${url.searchParams.get("type")}`);
    const answer = answers[url.searchParams.get("type") === "A" ? "A" : "AAAA"] ?? [];
    return answer instanceof Response ? answer.clone() : Response.json({ Status: 0, Answer: answer });
  };
  return { resolve: createResolveName({ fetch, now: clock.now }), clock, asked };
}

describe("what a name resolves to", () => {
  it("is every address of either kind, aliases left out", async () => {
    const { resolve } = resolver({
      A: [
        { type: 5, TTL: 60, data: "edge.example.net." },
        { type: 1, TTL: 60, data: "93.184.216.34" },
        { type: 1, TTL: 60, data: "10.0.0.1" },
      ],
      AAAA: [{ type: 28, TTL: 60, data: "fd00::1" }],
    });

    expect(await resolve("a.example.com", signal)).toEqual({ ok: true, value: ["93.184.216.34", "10.0.0.1", "fd00::1"] });
  });

  it("is nothing for a name that is not there", async () => {
    const gone = Response.json({ Status: 3 });

    expect(await resolver({ A: gone, AAAA: gone }).resolve("a.example.com", signal)).toEqual({ ok: true, value: [] });
  });

  it.each([
    ["a failure of the server", Response.json({ Status: 2 })],
    ["another status", new Response("{}", { status: 500 })],
    ["no JSON", new Response("<html>")],
    ["too much", new Response("x".repeat(70_000))],
    ["a list", Response.json([])],
  ])("is unknown where half of the answer is %s", async (_, half) => {
    const { resolve } = resolver({ A: [{ type: 1, TTL: 60, data: "93.184.216.34" }], AAAA: half });

    expect(await resolve("a.example.com", signal)).toEqual({ ok: false, error: "unreachable" });
  });

  it("is remembered as long as it says, and 30 seconds at most", async () => {
    const { resolve, clock, asked } = resolver({ A: [{ type: 1, TTL: 5, data: "93.184.216.34" }] });

    await resolve("a.example.com", signal);
    clock.advance(4_999);
    await resolve("a.example.com", signal);
    expect(asked).toHaveLength(2);
    clock.advance(1);
    await resolve("a.example.com", signal);

    expect(asked).toHaveLength(4);
  });

  it("is asked for each time where it says that it holds for no time", async () => {
    const { resolve, asked } = resolver({ A: [{ type: 1, TTL: 0, data: "93.184.216.34" }] });

    await resolve("a.example.com", signal);
    await resolve("a.example.com", signal);

    expect(asked).toHaveLength(4);
  });
});
