/** `npm run demo -- --bot`, as a reader runs it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..", "..");

test("the bot's demo shows an update that is answered once, and a long reply in two messages", { timeout: 120_000 }, async () => {
  const child = spawn(process.execPath, [join(ROOT, "scripts", "run.mjs"), "demo", "--bot"], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  const [code] = await once(child, "close");
  expect(code).toBe(0);
  expect(out).toMatch(/^ bot +Hello Ada! Ask me about tea, brewing or <anything> else\.\n +\d+ UTF-16 units, with bold, code, text_link$/m);
  expect(out).toMatch(/^ again +Telegram delivers update \d+ again: 200, and no second answer$/m);
  expect(out).toMatch(/^ bot +Brewing tea\n[\s\S]*\n bot +\d+\. Step \d+: warm[\s\S]* That is all\.$/m);
  expect(out.trimEnd().split("\n").length).toBeLessThanOrEqual(40);
});
