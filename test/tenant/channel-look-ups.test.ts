/** What isolates keep of channels: the look-up, the names in webhooks' paths, pairing codes, and counts. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ChannelCount, type SealedChannel, toChannelPlace } from "../../src/app/channels-api";
import type { ChannelSettings } from "../../src/contract/channel";
import { createChannelCounts } from "../../src/tenant/channels/channel-counts";
import { hashesOfPairingCode, hashPairingCode, makePairingCode, readPairingCode } from "../../src/tenant/channels/pairing-code";
import { readWebhookTenant, toWebhookTenant } from "../../src/tenant/channels/webhook-address";
import { sealCredential } from "../../src/tenant/credentials/credential-seal";
import { createChannelDirectory } from "../../src/tenant/look-ups/channel-directory";
import { noteChange } from "../../src/tenant/shared/changes";
import { drawn } from "../support/effort";
import { FakeSchedule } from "../support/fake-schedule";
import { createTestClock, makeId } from "./support";

const TENANT = makeId("ten", 1);
const MASTER = { kid: "k", bytes: new Uint8Array(32).fill(7) };
const settings: ChannelSettings = {
  type: "generic",
  session_per: "chat",
  model: null,
  policy: null,
  system: null,
  tools: null,
  commands: [],
  access: { mode: "open" },
  groups: "addressed",
  streaming: true,
  language: null,
};
const seal = async (name = "support", secret = '{"secret":"s"}'): Promise<SealedChannel> => ({
  settings,
  sealed: await sealCredential(secret, MASTER, toChannelPlace(TENANT, name)),
});

function newDirectory(channels: Map<string, SealedChannel>) {
  const clock = createTestClock();
  const asked: string[] = [];
  const logged: unknown[] = [];
  const directory = createChannelDirectory({
    tenant: TENANT,
    stub: {
      sealedChannel: async (name) => {
        asked.push(name);
        return channels.get(name) ?? null;
      },
    },
    masterKeys: () => [MASTER],
    readSecrets: (type, value) => (type === "generic" && value !== null ? { value } : null),
    now: clock.now,
    log: { info: () => {}, warn: () => {}, error: (event, fields) => void logged.push({ event, ...fields }) },
  });
  return { directory, clock, asked, logged };
}

describe("a channel's look-up", () => {
  it("opens the secrets, and asks the tenant's object once in its time", async () => {
    const { directory, clock, asked } = newDirectory(new Map([["support", await seal()]]));

    expect(await directory("support")).toEqual({ settings, credentials: { secret: "s" } });
    await directory("support");
    expect(asked).toEqual(["support"]);
    clock.advance(30_000);
    await directory("support");
    expect(asked).toEqual(["support", "support"]);
  });

  it("remembers for two seconds that a name is not there, and not beyond a change of the tenant", async () => {
    const channels = new Map<string, SealedChannel>();
    const { directory, clock, asked } = newDirectory(channels);
    expect([await directory("support"), await directory("support")]).toEqual([null, null]);
    expect(asked).toHaveLength(1);
    channels.set("support", await seal());

    clock.advance(1_999);
    expect(await directory("support")).toBeNull();
    clock.advance(1);
    expect(await directory("support")).not.toBeNull();

    expect(await directory("other")).toBeNull();
    channels.set("other", await seal("other"));
    noteChange(TENANT);
    expect(await directory("other")).not.toBeNull();
  });

  it("finds none whose secrets were sealed elsewhere or cannot be read, and says so without them", async () => {
    const { directory, logged } = newDirectory(
      new Map([
        ["support", await seal("other")],
        ["odd", await seal("odd", "planted, no JSON")],
      ]),
    );

    expect([await directory("support"), await directory("odd")]).toEqual([null, null]);
    expect(logged).toEqual(["support", "odd"].map((channel) => ({ event: "channel.unreadable", tenant_id: TENANT, channel, key_id: "k" })));
  });
});

describe("a tenant's name in a webhook's path", () => {
  const peppers = { current: "the present pepper of this test", previous: null };
  const rotated = { current: "the next pepper of this test", previous: { pepper: peppers.current, until: 0 } };

  it("is genuine under the deployment's pepper, and under the previous one for as long as that is configured", async () => {
    const name = await toWebhookTenant(TENANT, peppers);

    expect(await readWebhookTenant(name, peppers)).toBe(TENANT);
    expect(await readWebhookTenant(name, rotated)).toBe(TENANT);
    expect(await readWebhookTenant(name, { ...rotated, previous: null })).toBeNull();
    expect(await toWebhookTenant(TENANT, rotated)).not.toBe(name);
  });

  it("is never made up", async () => {
    const name = await toWebhookTenant(TENANT, peppers);
    const other = await toWebhookTenant(makeId("ten", 2), peppers);
    const invented = [
      TENANT,
      `${TENANT}_`,
      `${TENANT}${name.slice(-12).toLowerCase()}x`,
      TENANT + other.slice(-12),
      `${name} `,
      name.slice(0, -1),
    ];

    for (const each of invented) expect(await readWebhookTenant(each, peppers)).toBeNull();
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^[0-9A-Za-z]{11}$/), async (sum) => {
        expect(await readWebhookTenant(`${TENANT}_${sum}`, peppers)).toBe(`${TENANT}_${sum}` === name ? TENANT : null);
      }),
      { numRuns: drawn(100) },
    );
  });
});

describe("a pairing code", () => {
  const peppers = { current: "the present pepper of this test", previous: { pepper: "the other pepper", until: 1_000 } };
  const coded = { tenant: TENANT, channel: "support", code: "7KQ2MX9D" };

  it("has eight characters without look-alikes, and is another each time", () => {
    const codes = Array.from({ length: 200 }, makePairingCode);
    for (const code of codes) expect(code).toMatch(/^[2-9A-HJKMNP-TV-Z]{8}$/);
    expect(new Set(codes).size).toBe(200);
    expect(new Set(codes.join("")).size).toBe(30);
  });

  it.each([
    ["7KQ2MX9D", "7KQ2MX9D"],
    [" 7kq2-mx9d ", "7KQ2MX9D"],
    ["7KQ2MX9", null],
    ["7KQ2MX9DD", null],
    ["7KQ2MX9O", null],
    ["hello there", null],
    ["x".repeat(100_000), null],
    ["", null],
  ])("is read from what people send: %.20s", (sent, code) => {
    expect(readPairingCode(sent)).toBe(code);
  });

  it("is known by a hash that is bound to tenant, channel and pepper", async () => {
    const hash = await hashPairingCode(coded, peppers);

    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(await hashesOfPairingCode(coded, peppers, 0)).toHaveLength(2);
    expect(await hashesOfPairingCode(coded, peppers, 1_000)).toEqual([hash]);
    for (const other of [{ channel: "other" }, { tenant: makeId("ten", 2) }, { code: "7KQ2MX9E" }])
      expect(await hashesOfPairingCode({ ...coded, ...other }, peppers, 0)).not.toContain(hash);
  });
});

describe("counts of webhooks", () => {
  function newCounts(report?: () => Promise<unknown>) {
    const schedule = new FakeSchedule();
    const reported: (readonly ChannelCount[])[] = [];
    const works: Promise<unknown>[] = [];
    const count = createChannelCounts({
      report: async (_tenant, _channel, counts) => {
        reported.push(counts);
        await report?.();
      },
      now: schedule.now,
      schedule: schedule.schedule,
      background: (work) => void works.push(work),
      log: { info: () => {}, warn: () => {}, error: () => {} },
    });
    const event = (reason = "wrong") => count({ tenant: TENANT, channel: "support", kind: "signature_refused", reason });
    const settle = async (ms: number) => {
      // The timer is set behind the first report.
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
      schedule.advance(ms);
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    };
    const numbers = () => reported.map((counts) => counts.map(({ reason, number }) => `${reason} ${number}`));
    return { event, settle, numbers, works };
  }

  it("are reported at once, and those of the next seconds together", async () => {
    const { event, settle, numbers, works } = newCounts();
    event();
    for (let n = 0; n < 5; n++) event();
    event("expired");
    expect(numbers()).toEqual([["wrong 1"]]);

    await settle(5_000);
    await Promise.all(works);
    expect(numbers()).toEqual([["wrong 1"], ["wrong 5", "expired 1"]]);
    event();
    expect(numbers()).toHaveLength(3);
  });

  it("go on where a report failed, and where one was cut off", async () => {
    const failing = newCounts(async () => Promise.reject(new Error("out of reach")));
    failing.event();
    await failing.settle(5_000);
    await Promise.all(failing.works);
    failing.event();
    expect(failing.numbers()).toEqual([["wrong 1"], ["wrong 1"]]);

    const cut = newCounts(() => new Promise(() => undefined));
    cut.event();
    cut.event();
    await cut.settle(30_000);
    cut.event();
    expect(cut.numbers()).toEqual([["wrong 1"], ["wrong 2"]]);
  });

  it("are bounded: reasons beyond fifty are not counted", async () => {
    const { event, settle, numbers } = newCounts();
    event();
    for (let n = 0; n < 60; n++) event(`reason ${n}`);
    await settle(5_000);
    expect(numbers()[1]).toHaveLength(50);
  });
});
