/** The commands of docs/channels/telegram.md, in bash and in zsh, against the backend in workerd and the stand-in of Telegram: the bot then writes back. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BotScene, openBotScene } from "../../../scripts/demo/bot-scene";
import { writeConnection } from "../../../scripts/support/connection";
import { findCommandBlocks, readPages } from "../../support/doc-pages";
import { runCommands, SHELLS } from "../../support/run-commands";

const MS = 120_000;
const [page] = readPages().filter(({ path }) => path === "docs/channels/telegram.md");

let scene: BotScene;
beforeAll(async () => {
  scene = await openBotScene();
}, MS);
afterAll(() => scene.close());

/** The commands, with the bot and the addresses of this run in place of the reader's. */
function readBlocks({ telegram, connection }: BotScene) {
  const values = [
    ["TOKEN=123456:AAbbCC", `TOKEN=${telegram.token}`],
    ["BOT_USERNAME=your_bot", `BOT_USERNAME=${telegram.bot.username}`],
    ["TELEGRAM=https://api.telegram.org", `TELEGRAM=${telegram.url}`],
    ["PUBLIC=https://chat.example.com", `PUBLIC=${connection.url}`],
  ] as const;
  // The last block takes the bot away again.
  const blocks = page ? findCommandBlocks(page).filter(({ commands }) => !commands.includes("/deleteWebhook")) : [];
  return blocks.map(({ commands }) => ({ commands: values.reduce((text, [shown, value]) => text.replace(shown, value), commands) }));
}

describe.each(SHELLS)("in $shell (skipped where it is not installed)", ({ shell, missing }) => {
  test.skipIf(missing)("the page's commands set up a bot that Telegram reaches, and that writes back", { timeout: MS }, async () => {
    const { telegram, connection, hook } = scene;
    const folder = mkdtempSync(join(tmpdir(), "longhand-telegram-"));
    try {
      writeConnection(connection, join(folder, ".longhand", "dev.json"));
      telegram.updates.hook = null;
      const { code, said } = await runCommands(shell, readBlocks(scene), { cwd: folder });
      expect([code, said.includes('"ok":false')], said).toEqual([0, false]);
      expect(telegram.updates.hook).toMatchObject({ url: hook });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    // Each isolate reads the channel's new secret within 30 seconds. Telegram repeats an update that was refused.
    const person = telegram.addPerson(`Ada of ${shell}`);
    telegram.say({ from: person, text: "Hello" });
    await telegram.until(() => telegram.seen(person).some(({ from }) => from.is_bot));
  });
});
