/** `npm run replay` as a person runs it: without the recordings, nothing else notices when what it reads over HTTP has another shape. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";

const ROOT = join(import.meta.dirname, "..", "..", "..");
/** It starts a server: far more than that takes on a machine that does nothing else. */
const LIMIT_MS = 180_000;

async function run(...args: readonly string[]) {
  const child = spawn(process.execPath, [join("scripts", "run.mjs"), ...args], { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  let [out, said] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const [code] = await once(child, "close");
  return { code, out, said };
}

const figures = z.object({ turns: z.number(), messages: z.number(), overflows: z.number() });

test("replay plays a recording with a call and its result, and reads it back equal", { timeout: LIMIT_MS }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "longhand-replay-"));
  const path = join(folder, "recording.jsonl");
  const messages = [
    { role: "user", content: "Wie wird das Wetter in 大阪?" },
    { role: "assistant", content: null, tool_calls: [{ id: "call_1", name: "weather", arguments: '{"city":"大阪"}' }] },
    { role: "tool", content: "", tool_call_id: "call_1" },
    { role: "assistant", content: "Sunny." },
    { role: "user", content: "And tomorrow?" },
    { role: "assistant", content: "Rain." },
  ];
  writeFileSync(path, `${JSON.stringify({ id: "one", system: "Be terse.", messages })}\n`);
  try {
    const { code, out, said } = await run("replay", path, "--window", "8000", "--sandbox", "--json");
    expect(code, said).toBe(0);
    expect(figures.parse(JSON.parse(out))).toEqual({ turns: 2, messages: 6, overflows: 0 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
