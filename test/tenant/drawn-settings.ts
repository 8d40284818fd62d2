/** Draws the settings of a tenant, as lines of a file in their order. Names and texts are in any script. */
import fc from "fast-check";
import { toSettingKey } from "../../src/app/exported-settings";
import type { LineOf } from "../../src/contract/export";
import type { SettingKind } from "../../src/domain/export-format";
import { WEBHOOK_EVENT_TYPES } from "../../src/domain/webhook-events";
import { toPlainLine } from "../../src/lib/plain-line";
import { makeId } from "./support";

type Line = LineOf<"setting">;

const word = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9]{0,9}$/);
const text = fc.oneof(fc.constant("天气：北京"), fc.constant("Zürich\u2028\u0000 \"'<>"), fc.string({ maxLength: 40, unit: "grapheme" }));
const credential = fc.option(word, { nil: undefined });
const header = fc.option(
  word.map((name) => ({ name: "X-Api-Key", credential: name, prefix: "Bearer " })),
  { nil: null },
);
const price = fc.integer({ min: 0, max: 100_000 }).map((n) => n / 1_000);
const prices = fc.record({ input: price, output: price, cached: price, cache_write: price });

/** Prices are for models that the tenant pays for. */
const model = fc
  .record({
    provider: fc.constantFrom("openai", "anthropic", "openai-compatible"),
    upstream_id: word,
    context_window: fc.option(fc.integer({ min: 2_000, max: 1_000_000 }), { nil: null }),
    max_output: fc.integer({ min: 1, max: 100_000 }),
    ratio: fc.constantFrom(0.9, 1, 1.25),
    credential,
    prices,
  })
  .map(({ prices: said, credential: named, ...rest }) => ({
    ...rest,
    base_url: rest.provider === "openai-compatible" ? "https://gateway.example.org/v1" : null,
    ...(named !== undefined && { credential: named, prices: said }),
  }));

const parameters = fc.record({ city: text, n: fc.integer() }).map(({ city, n }) => ({
  type: "object",
  properties: { city: { type: "string", description: city }, n: { type: "integer", maximum: n } },
}));
const tool = fc.record({
  description: fc.option(text, { nil: null }),
  parameters,
  url: fc.constant("https://api.example.org/weather"),
  method: fc.constantFrom("POST", "GET", "PUT"),
  secret_header: header,
  timeout_ms: fc.integer({ min: 1_000, max: 300_000 }),
  max_bytes: fc.integer({ min: 1, max: 1_000_000 }),
  needs_approval: fc.boolean(),
  files: fc.constant(null),
});
const listed = fc.record({
  name: word,
  description: fc.option(
    text.filter((said) => said.trim() !== ""),
    { nil: null },
  ),
  parameters,
});
const server = fc.record({
  url: fc.constant("https://mcp.example.org/"),
  secret_header: header,
  timeout_ms: fc.integer({ min: 1_000, max: 300_000 }),
  needs_approval: fc.boolean(),
  allowed_tools: fc.option(fc.array(word, { maxLength: 3 }), { nil: null }),
  listing: fc.record({ tools: fc.array(listed, { maxLength: 4 }), skipped: fc.array(word, { maxLength: 2 }), truncated: fc.boolean() }),
});
const field = fc.oneof(
  fc.record({ name: fc.constant("name"), value: text.map(toPlainLine).filter((said) => said.length > 0) }),
  fc.record({
    name: fc.constant("default_policy"),
    value: fc.constantFrom<unknown>("verbatim", { preset: "balanced", keep: { ratio: 0.5 } }),
  }),
  fc.record({ name: fc.constant("allowed_origins"), value: fc.constant(["https://app.example.org"]) }),
);
const retention = fc.record({
  erase_sessions_after_days: fc.integer({ min: 1, max: 900 }),
  by_policy: fc.constant({ verbatim: { erase_sessions_after_days: null } }),
});

const channel = fc.record({
  type: fc.constantFrom("telegram", "slack", "discord", "whatsapp", "generic"),
  session_per: fc.constantFrom("user", "thread", "chat"),
  policy: fc.constantFrom(null, "verbatim", { preset: "balanced", keep: { ratio: 0.5 } }),
  system: fc.option(
    text.filter((said) => said.length > 0),
    { nil: null },
  ),
  access: fc.oneof(
    fc.constant({ mode: "open" }),
    fc.record({ mode: fc.constantFrom("allow_list", "pairing"), users: fc.array(word, { maxLength: 3 }) }),
  ),
  groups: fc.constantFrom("addressed", "all", "none"),
  streaming: fc.boolean(),
});

const endpoint = fc.record({
  url: fc.constantFrom("https://hooks.example.org/a", "https://example.com/b?c=d"),
  events: fc.option(fc.subarray([...WEBHOOK_EVENT_TYPES], { minLength: 1 }), { nil: null }),
  description: fc.option(
    text.filter((said) => said.length > 0),
    { nil: null },
  ),
  metadata: fc.dictionary(word, word, { maxKeys: 3 }),
  enabled: fc.boolean(),
});

const toLine = (kind: SettingKind, name: string, value: unknown): Line => ({ type: "setting", kind, name, value });
const listKind = (kind: SettingKind, value: fc.Arbitrary<unknown>, maxLength: number): fc.Arbitrary<Line[]> =>
  fc.array(
    fc.tuple(word, value).map(([name, said]) => toLine(kind, name, said)),
    { maxLength },
  );

export const drawnSettings: fc.Arbitrary<readonly Line[]> = fc
  .tuple(
    listKind("model", model, 8),
    listKind("tool", tool, 8),
    listKind("mcp_server", server, 3),
    fc.array(
      field.map(({ name, value }) => toLine("tenant", name, value)),
      { maxLength: 3 },
    ),
    fc.array(
      retention.map((value) => toLine("retention", "rules", value)),
      { maxLength: 1 },
    ),
    listKind("channel", channel, 3),
    fc.array(
      fc.tuple(fc.integer({ min: 0, max: 9 }), endpoint).map(([n, said]) => toLine("webhook_endpoint", makeId("whk", n), said)),
      { maxLength: 4 },
    ),
  )
  .map((lists) => [...new Map(lists.flat().map((line) => [toSettingKey(line), line])).values()]);
