/** The maximum reply length that a request asks for, where the provider requires it. */
import { expect, test } from "vitest";
import type { Provider } from "../../src/context/model-input";
import { Life, SPEC } from "./life";

async function asked(provider: Provider): Promise<Life> {
  const life = new Life();
  life.models = { resolve: async () => ({ ...SPEC, provider, context_window: 8_000, max_output: 4_000 }) };
  await life.open();
  await life.send("hello");
  return life;
}

test.each(["anthropic", "workers-ai"] as const)(
  "%s is asked for all that the model may say, and for no more than a growing request leaves of the window",
  async (provider) => {
    const life = await asked(provider);
    expect(life.call.request.maxOutput).toBe(4_000);

    await life.answer("good morning", 5_000);
    await life.send("and now?");

    const { maxOutput } = life.call.request;
    expect(maxOutput).toBeGreaterThan(2_000);
    expect(maxOutput).toBeLessThan(8_000 - 5_000);
  },
);

test.each(["openai", "openai-chat", "openai-compatible", "google"] as const)("%s is named none", async (provider) => {
  const life = await asked(provider);
  await life.answer("good morning", 5_000);
  await life.send("and now?");

  expect(life.calls.map(({ request }) => request.maxOutput)).toEqual([null, null]);
});
