/** What refusals taught about an endpoint: kept per address and model, expiring, shown, and forgotten by a put or a probe. */
import { describe, expect, test } from "vitest";
import type { ModelOverride } from "../../src/app/model-entry";
import type { Quirks } from "../../src/context/model-quirks";
import { buildDeploymentModels, createRegistry } from "../../src/tenant/settings/registry";
import { createMigratedSql } from "./memory-sql";

const DAY = 24 * 60 * 60 * 1_000;
const MODEL: ModelOverride = {
  provider: "openai-compatible",
  upstream_id: "some-model",
  base_url: "https://example.org/v1",
  context_window: 8_000,
  max_output: 1_000,
};
const NO_KEYS = { openai: undefined, anthropic: undefined, google: undefined, "openai-compatible": undefined };

function open(models: Readonly<Record<string, ModelOverride>> = {}) {
  const time = { now: 0 };
  const registry = createRegistry({
    sql: createMigratedSql(),
    deployment: buildDeploymentModels(models),
    credentials: new Set<string>(),
    deploymentKeys: NO_KEYS,
    now: () => time.now,
  });
  const teach = (model: string, quirks: Quirks) => registry.suggest({ model, quirks, source: "provider_error" }, time.now);
  const readQuirks = (model: string) => registry.resolve(model, () => null)?.quirks;
  const shown = (model: string) => registry.find(model, () => null)?.known_quirks;
  return { ...registry, time, teach, readQuirks, shown };
}

describe("a lesson", () => {
  test("holds for every model of the address and name, of the tenant and of the deployment, and for no other", () => {
    const registry = open({ theirs: MODEL });
    registry.put("mine", MODEL);
    registry.put("elsewhere", { ...MODEL, base_url: "https://other.example/v1" });
    registry.put("named", { ...MODEL, upstream_id: "other-model" });

    registry.teach("mine", { stream_options: false });
    expect(["mine", "theirs", "elsewhere", "named"].map((id) => registry.readQuirks(id))).toEqual([
      { stream_options: false },
      { stream_options: false },
      undefined,
      undefined,
    ]);
  });

  test("of bytes holds for every model of the address, and doubles each day until it is the usual bound", () => {
    const registry = open({ a: MODEL, b: { ...MODEL, upstream_id: "other-model" } });
    registry.teach("a", { max_request_bytes: 1_000_000 });
    const bound = () => registry.readQuirks("b")?.max_request_bytes;
    expect(bound()).toBe(1_000_000);
    registry.time.now = 2 * DAY;
    expect(bound()).toBe(4_000_000);
    registry.time.now = 3 * DAY;
    expect(bound()).toBeUndefined();
  });

  test("expires after a week", () => {
    const registry = open({ a: MODEL });
    registry.teach("a", { call_ids: "nine_characters" });
    registry.time.now = 7 * DAY - 1;
    expect(registry.readQuirks("a")).toEqual({ call_ids: "nine_characters" });
    registry.time.now = 7 * DAY;
    expect(registry.readQuirks("a")).toBeUndefined();
  });

  test("gives way to what the entry says, and goes before what is known of the endpoint", () => {
    const registry = open();
    registry.put("m", { ...MODEL, endpoint: "ollama", quirks: { system: "developer" } });
    registry.teach("m", { system: "first", truncates_silently: false });
    expect(registry.readQuirks("m")).toEqual({ system: "developer", truncates_silently: false });
  });

  test("is shown with its source and its end", () => {
    const registry = open();
    registry.put("m", { ...MODEL, upstream_id: "qwen3", endpoint: "ollama", quirks: { tool_choice: false } });
    registry.teach("m", { stream_options: false });
    expect(registry.shown("m")).toEqual([
      { quirk: "system", value: "first", source: "preset", until: null },
      { quirk: "stream_options", value: false, source: "learned", until: 7 * DAY },
      { quirk: "tool_choice", value: false, source: "tenant", until: null },
      { quirk: "truncates_silently", value: true, source: "preset", until: null },
    ]);
  });

  test.each([
    ["put again", (registry: ReturnType<typeof open>) => registry.put("m", MODEL)],
    [
      "asked about by a probe",
      (registry: ReturnType<typeof open>) => registry.suggest({ model: "m", context_window: 9_000, source: "provider_endpoint" }, 1),
    ],
  ])("is forgotten when the model is %s", (_, act) => {
    const registry = open();
    registry.put("m", MODEL);
    registry.teach("m", { stream_options: false, max_request_bytes: 100_000 });
    act(registry);
    expect(registry.readQuirks("m")).toBeUndefined();
  });

  test("adds no row where nothing was taught", () => {
    const registry = open({ a: MODEL });
    registry.suggest({ model: "a", context_window: 9_000, source: "provider_error" }, 1);
    expect(registry.readQuirks("a")).toBeUndefined();
  });
});
