/**
 * The commands of the pages of Slack, Discord and WhatsApp, in bash and in zsh, with the secrets of a stand-in in place of the reader's: the
 * platform then accepts the address, and the bot answers.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Connection, callApi } from "../../../scripts/support/api-client";
import { writeConnection } from "../../../scripts/support/connection";
import { discordDriver } from "../../channels/contract/discord-driver";
import type { ContractPlatform } from "../../channels/contract/driver";
import { slackDriver } from "../../channels/contract/slack-driver";
import { whatsappDriver } from "../../channels/contract/whatsapp-driver";
import { type CommandBlock, findCommandBlocks, readPages, toOutputPattern } from "../../support/doc-pages";
import { runCommands, SHELLS } from "../../support/run-commands";
import { openTenant } from "../../support/shared-server";

const MS = 120_000;
const PATIENCE_MS = 20_000;
const ROOT = join(import.meta.dirname, "..", "..", "..");
const DRIVERS = [slackDriver, discordDriver, whatsappDriver];
/** The last credential of a `PUT`, behind which a test has the address of its stand-in. */
const LAST_CREDENTIAL = /("'\$(?:BOT_TOKEN|PHONE_NUMBER_ID)'")\}/;

/** The scope of each event: https://docs.slack.dev/reference/events */
const EVENT_SCOPES: Readonly<Record<string, string>> = {
  app_mention: "app_mentions:read",
  "message.channels": "channels:history",
  "message.groups": "groups:history",
  "message.im": "im:history",
  "message.mpim": "mpim:history",
};
const slackManifest = z.object({
  settings: z.object({ event_subscriptions: z.object({ bot_events: z.array(z.string()) }) }),
  oauth_config: z.object({ scopes: z.object({ bot: z.array(z.string()) }) }),
});

/** The page's commands but for the last, which take the bot away again (doc-runs.test.ts). */
const findBlocks = (type: string): readonly CommandBlock[] =>
  readPages()
    .filter(({ path }) => path === `docs/channels/${type}.md`)
    .flatMap(findCommandBlocks)
    .filter(({ commands }) => !commands.startsWith(`ask -X DELETE $URL/v1/channels/${type}\n`));

/** A variable of a page has the name of its credential, in capitals. */
function fillIn({ commands, shows }: CommandBlock, { api_url, ...secrets }: Readonly<Record<string, string>>) {
  const entered = Object.entries(secrets).reduce(
    (text, [name, value]) => text.replace(new RegExp(`^${name.toUpperCase()}=.*$`, "m"), `${name.toUpperCase()}='${value}'`),
    commands,
  );
  return {
    commands: entered.replace(/^(DISCORD|GRAPH)=.*$/m, `$1=${api_url}`).replace(LAST_CREDENTIAL, `$1, "api_url": "${api_url}"}`),
    shows,
  };
}

let connection: Connection;
beforeAll(async () => {
  connection = await openTenant();
}, MS);

async function runPageCommands(type: string, shell: string, platform: ContractPlatform): Promise<void> {
  const blocks = findBlocks(type).map((block) => fillIn(block, z.record(z.string(), z.string()).parse(platform.credentials)));
  const folder = mkdtempSync(join(tmpdir(), "longhand-channel-"));
  try {
    writeConnection(connection, join(folder, ".longhand", "dev.json"));
    const { code, said, outputs } = await runCommands(shell, blocks, { cwd: folder });
    expect(code, said).toBe(0);
    for (const [index, { shows }] of blocks.entries()) if (shows !== null) expect(outputs[index]?.trim()).toMatch(toOutputPattern(shows));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function holdConversation(type: string, platform: ContractPlatform): Promise<void> {
  const channel = await callApi(connection, { method: "GET", path: `/v1/channels/${type}` });
  await platform.receiveAt(connection.url + z.object({ webhook_path: z.string() }).parse(channel).webhook_path);
  expect(await platform.verifyAddress()).toBe(true);
  const chat = platform.open("private");
  await chat.say({ text: "My dog is called Rex." });
  await expect.poll(() => chat.replies().map(({ text }) => text), { timeout: PATIENCE_MS }).toEqual([expect.stringContaining("Rex")]);
}

describe.each(DRIVERS)("the page of the platform $type", (driver) => {
  let platform: ContractPlatform;
  beforeAll(async () => {
    platform = await driver.start();
  });
  afterAll(() => platform.close());

  describe.each(SHELLS)("in $shell (skipped where it is not installed)", ({ shell, missing }) => {
    test.skipIf(missing)("sets up a bot that answers", { timeout: MS }, async () => {
      await runPageCommands(driver.type, shell, platform);
      await holdConversation(driver.type, platform);
    });
  });
});

describe("the manifest of Slack's page", () => {
  const page = readFileSync(join(ROOT, "docs/channels/slack.md"), "utf8");
  const text = /^```json\n([\s\S]*?)^```/m.exec(page)?.[1] ?? "";

  test("has the request URL in its three places", () => {
    expect(text.match(/https:\/\/chat\.example\.com\/webhooks\/\.\.\./g)).toHaveLength(3);
  });

  test("asks for the scope of each event, and no other of messages", () => {
    const { settings, oauth_config } = slackManifest.parse(JSON.parse(text));
    const needed = settings.event_subscriptions.bot_events.map((event) => EVENT_SCOPES[event]);
    expect(oauth_config.scopes.bot.filter((scope) => /:(history|read)$/.test(scope) && scope !== "files:read")).toEqual(needed.toSorted());
  });
});
