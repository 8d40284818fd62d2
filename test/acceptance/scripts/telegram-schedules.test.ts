/** A reminder on Telegram, the whole way: the backend in workerd with its own alarms, and the stand-in of Telegram, to which it writes unasked. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type BotScene, openBotScene } from "../../../scripts/demo/bot-scene";
import { callApi } from "../../../scripts/support/api-client";

const MS = 120_000;
const opened = z.object({ id: z.string() });
const schedule = z.object({ last_run: z.object({ turn_id: z.string().nullable() }).nullable() });

let scene: BotScene;
beforeAll(async () => {
  scene = await openBotScene();
}, MS);
afterAll(() => scene.close());

test("a schedule's reply appears in the person's chat once, and the next answer behind it", { timeout: MS }, async () => {
  const { telegram, connection } = scene;
  const ada = telegram.addPerson("Ada");
  const fromBot = () => telegram.seen(ada).filter(({ from }) => from.is_bot);
  const write = async (text: string): Promise<void> => {
    const before = fromBot().length;
    telegram.say({ from: ada, text });
    await telegram.until(() => fromBot().length > before);
  };
  await write("Hello");
  const name = encodeURIComponent(`assistant/chat:${ada.id}/1`);
  const { id } = opened.parse(await callApi(connection, { method: "GET", path: `/v1/sessions/by-external-id/${name}` }));
  const path = `/v1/sessions/${id}/schedules/ada`;
  await callApi(connection, { method: "PUT", path, body: { at: Date.now() + 1_000, message: "Remind me to call Ada." } });
  await telegram.until(() => fromBot().length === 2);
  await write("Thanks");

  const { last_run } = schedule.parse(await callApi(connection, { method: "GET", path }));
  const sent = telegram.calls.filter(({ method, status }) => method === "sendMessage" && status === 200);
  expect(last_run?.turn_id).toMatch(/^trn_/);
  expect([fromBot().length, sent.length]).toEqual([3, 3]);
});
