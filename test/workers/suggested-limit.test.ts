/** The window in a provider's refusal is suggested to the tenant, and changes nothing by itself. */
import { beforeAll, expect, it } from "vitest";
import type { ModelView } from "../../src/contract/model";
import { words } from "./conversation";
import { type Chat, migrate, newChat, readBody } from "./support";

beforeAll(migrate);

const readModel = async (chat: Chat): Promise<ModelView> => readBody(await chat.tenant.call("GET", `/v1/models/${chat.model.upstream}`));

it("is shown with its source and time until a PUT adopts it", async () => {
  const chat = await newChat({ window: 16_000, maxOutput: 100, limit: 4_000 });
  for (let n = 0; n < 4; n++) {
    await chat.append(words(1_500, `question-${n}`));
    await chat.append("ok", "assistant");
  }
  await chat.say("and now?");

  const told = await readModel(chat);
  expect(told.context_window).toBe(16_000);
  expect(told.suggestions).toEqual([{ figure: "context_window", tokens: 4_000, source: "provider_error", at: expect.any(Number) }]);

  const { provider, base_url, max_output } = told;
  const adopted = await chat.tenant.call("PUT", `/v1/models/${chat.model.upstream}`, {
    provider,
    base_url,
    max_output,
    context_window: 4_000,
  });
  expect(await readBody(adopted)).toMatchObject({ context_window: 4_000, suggestions: [] });
});
