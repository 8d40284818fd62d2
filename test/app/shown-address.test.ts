import { describe, expect, it } from "vitest";
import { shownAddress, shownEvent } from "../../src/app/shown-address";
import type { StoredEvent } from "../../src/domain/events";
import { LogBuilder, modelCall } from "../read-model/builders";

const SECRET = "https://user:hunter2@llm.internal.example/v1?key=hunter2#hunter2";

describe("the address of a model", () => {
  it.each([
    ["of the deployment's", "https://llm.internal.example/v1/chat", { base_url: SECRET, source: "deployment" }, null],
    ["of the tenant's", SECRET, { base_url: SECRET, source: "tenant" }, "https://llm.internal.example/v1"],
    ["of the tenant's, as it was said", "https://llm.example.com", { base_url: SECRET, source: "tenant" }, "https://llm.example.com"],
    [
      "of the provider itself",
      "https://api.example.com/v1?alt=sse",
      { base_url: null, source: "deployment" },
      "https://api.example.com/v1?alt=sse",
    ],
    ["that is none", "nonsense", { base_url: "nonsense", source: "tenant" }, null],
  ] as const)("%s", (_, url, model, shown) => {
    expect(shownAddress(url, model)).toBe(shown);
  });
});

it("an event that was stored with the deployment's address is shown without it", () => {
  const model = {
    provider: "openai-compatible",
    upstream_id: "m",
    base_url: SECRET,
    source: "deployment",
    context_window: null,
    max_output: 10,
  } as const;
  const call = modelCall({ asked: { seq: 1, at: 1, max_output: null, model } });
  const [stored] = new LogBuilder().open().event(call).events.slice(-1) as StoredEvent[];
  if (!stored) throw new Error("no event");

  expect(JSON.stringify(shownEvent(stored))).not.toMatch(/hunter2|internal/);
  expect(shownEvent(stored)).toMatchObject({ asked: { model: { base_url: null, upstream_id: "m" } } });
});
