import { describe, expect, it } from "vitest";
import { TimeIsUp } from "../../src/tools/safe-fetch";
import { Network, PUBLIC, redirect } from "./fake-network";

const START = "https://tool.example.com/start";
const secret = { name: "x-key", value: "a-secret" };

describe("what is refused before anything is sent", () => {
  it.each([
    ["a decimal address", "https://2130706433/"],
    ["a hex address", "https://0x7f000001/"],
    ["an octal address", "https://0177.0.0.1/"],
    ["an IPv4-mapped address", "https://[::ffff:127.0.0.1]/"],
    ["a metadata service", "https://169.254.169.254/latest/meta-data/"],
    ["a metadata name", "https://metadata.google.internal/"],
    ["localhost", "https://localhost./"],
    ["userinfo", "https://user:pass@tool.example.com/"],
    ["http", "http://tool.example.com/"],
    ["ftp", "ftp://tool.example.com/"],
    ["nonsense", "nonsense"],
  ])("%s: %s", async (_, url) => {
    const network = new Network();

    expect(await network.ask(url)).toEqual({ ok: false, error: "refused_address" });
    expect([network.sent, network.asked]).toEqual([[], []]);
  });

  it.each([
    ["inside", ["10.0.0.1"]],
    ["to the host itself", ["127.0.0.1"]],
    ["inside, by IPv6", ["fd00::1"]],
    ["to an IPv4-mapped address", ["::ffff:10.0.0.1"]],
    ["to a public address and one inside", [PUBLIC, "192.168.0.1"]],
  ])("a name that points %s", async (_, addresses) => {
    const network = new Network({ names: { "127.0.0.1.nip.io": addresses } });

    expect(await network.ask("https://127.0.0.1.nip.io/")).toEqual({ ok: false, error: "refused_address" });
    expect(network.sent).toEqual([]);
  });

  it.each([
    ["has no address", []],
    ["does not resolve", ["?"]],
  ])("a name that %s is not reached", async (_, addresses) => {
    const network = new Network({ names: { "tool.example.com": addresses } });

    expect(await network.ask(START)).toEqual({ ok: false, error: "unreachable" });
    expect(network.sent).toEqual([]);
  });

  it("a name with a dot behind is looked up as the name that it is", async () => {
    const network = new Network({ names: { "inside.example.com": ["10.0.0.1"] } });

    expect(await network.ask("https://inside.example.com./")).toEqual({ ok: false, error: "refused_address" });
  });
});

describe("redirects", () => {
  const hop = (n: number): string => `https://tool.example.com/${n}`;

  it.each([
    ["an address inside", "https://10.0.0.1/"],
    ["a hex address inside", "https://0x0a000001/"],
    ["http", "http://tool.example.com/plain"],
    ["a name that points inside", "https://inside.example.com/"],
    ["userinfo", "https://a:b@tool.example.com/"],
    ["a file", "file:///etc/passwd"],
    ["a protocol-relative address inside", "//127.0.0.1/"],
  ])("to %s are refused, and nothing is sent there: %s", async (_, to) => {
    const network = new Network({ names: { "inside.example.com": ["10.1.1.1"] }, answers: { [START]: redirect(to) } });

    expect(await network.ask(START)).toEqual({ ok: false, error: "refused_address" });
    expect(network.sent.map(({ url }) => url)).toEqual([START]);
  });

  it("are followed three times, and not a fourth", async () => {
    const answers = { [hop(0)]: redirect("/1"), [hop(1)]: redirect("/2"), [hop(2)]: redirect("/3"), [hop(4)]: redirect("/0") };
    const network = new Network({ answers });

    expect((await network.ask(hop(0))).ok).toBe(true);
    expect(await network.ask(hop(4))).toEqual({ ok: false, error: "unreachable" });
    expect(network.sent.map(({ url }) => url).slice(4)).toEqual([hop(4), hop(0), hop(1), hop(2)]);
  });

  it("back to a name look it up again: one that has moved inside meanwhile is refused", async () => {
    const names = { "tool.example.com": [[PUBLIC], ["169.254.169.254"]] };
    const network = new Network({ names, answers: { [START]: redirect("/next") } });

    expect(await network.ask(START)).toEqual({ ok: false, error: "refused_address" });
    expect(network.sent).toHaveLength(1);
  });

  it("that lead nowhere end the call", async () => {
    const network = new Network({ answers: { [START]: redirect("https://") } });

    expect(await network.ask(START)).toEqual({ ok: false, error: "unreachable" });
  });

  it.each([301, 302, 303])("of a POST with %i are not followed: the answer is the redirect itself", async (status) => {
    const network = new Network({ answers: { [START]: redirect("/next", status) } });

    const answer = await network.ask(START, { method: "POST", body: "{}" });

    expect(answer.ok && answer.value.status).toBe(status);
    expect(network.sent).toHaveLength(1);
  });

  it.each([307, 308])("of a POST with %i are followed with method and body", async (status) => {
    const network = new Network({ answers: { [START]: redirect("/next", status) } });

    await network.ask(START, { method: "POST", body: "{}" });

    expect(network.sent.map(({ method, body }) => [method, body])).toEqual([
      ["POST", "{}"],
      ["POST", "{}"],
    ]);
  });
});

describe("a secret", () => {
  it("goes along within the origin", async () => {
    const network = new Network({ answers: { [START]: redirect("/next") } });

    await network.ask(START, { secret });

    expect(network.sent.map(({ headers }) => headers.get("x-key"))).toEqual(["a-secret", "a-secret"]);
  });

  it.each([
    ["another host", "https://other.example.com/"],
    ["another port", "https://tool.example.com:8443/"],
  ])("is not sent to %s, nor to the first origin again behind it", async (_, to) => {
    const network = new Network({ answers: { [START]: redirect(to), [to]: redirect("https://tool.example.com/back") } });

    const answer = await network.ask(START, { secret });

    expect(answer.ok).toBe(true);
    expect(network.sent.map(({ headers }) => headers.get("x-key"))).toEqual(["a-secret", null, null]);
  });

  it("is not sent on the way within another origin either", async () => {
    const other = "https://other.example.com/1";
    const network = new Network({ answers: { [START]: redirect(other), [other]: redirect("/2") } });

    await network.ask(START, { secret });

    expect(network.sent.map(({ url, headers }) => [url, headers.get("x-key")])).toEqual([
      [START, "a-secret"],
      [other, null],
      ["https://other.example.com/2", null],
    ]);
  });
});

describe("a call that is given up", () => {
  it.each([
    ["is a timeout where time is why", new TimeIsUp(), "timeout"],
    ["is unreachable otherwise", new Error("stopped"), "unreachable"],
  ])("%s", async (_, reason, error) => {
    const given = new AbortController();
    given.abort(reason);

    expect(await new Network().ask(START, { signal: given.signal })).toEqual({ ok: false, error });
  });
});

it("addresses inside are reached where the deployment allows it, and no name is looked up", async () => {
  const network = new Network({ allowPrivate: true });

  expect((await network.ask("http://localhost:8080/")).ok).toBe(true);
  expect(network.asked).toEqual([]);
});
