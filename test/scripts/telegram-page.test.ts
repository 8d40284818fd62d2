/** The commands of docs/channels/telegram.md, in one shell, against the backend in workerd and the stand-in of Telegram: the bot then writes back. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BotScene, openBotScene } from "../../scripts/demo/bot-scene";
import { writeConnection } from "../../scripts/support/connection";
import { findCommandBlocks, readPages } from "../support/doc-pages";

const MS = 120_000;
const [page] = readPages().filter(({ path }) => path === "docs/channels/telegram.md");

let scene: BotScene;
beforeAll(async () => {
  scene = await openBotScene();
}, MS);
afterAll(() => scene.close());

test("the page's commands set up a bot that Telegram reaches, and that writes back", { timeout: MS }, async () => {
  const { telegram, connection } = scene;
  const commands = page ? findCommandBlocks(page).map((block) => block.commands) : [];
  const script = commands
    .join("\n")
    .replace("TOKEN=123456:AAbbCC", `TOKEN=${telegram.token}`)
    .replace("USERNAME=your_bot", `USERNAME=${telegram.bot.username}`)
    .replace("TELEGRAM=https://api.telegram.org", `TELEGRAM=${telegram.url}`);
  const folder = mkdtempSync(join(tmpdir(), "longhand-telegram-"));
  try {
    writeConnection(connection, join(folder, ".longhand", "dev.json"));
    telegram.updates.hook = null;
    const child = spawn("bash", ["-e", "-u", "-c", script], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
    const [code] = await once(child, "close");
    expect([code, said.includes('"ok":false')], said).toEqual([0, false]);
    expect(telegram.updates.hook).toMatchObject({ url: scene.hook });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  // Each isolate reads the channel's new secret within 30 seconds. Telegram repeats an update that was refused.
  const ada = telegram.addPerson("Ada");
  telegram.say({ from: ada, text: "Hello" });
  await telegram.until(() => telegram.seen(ada).some(({ from }) => from.is_bot));
});
