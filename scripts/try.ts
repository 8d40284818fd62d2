/**
 * `npm run try -- --model PROVIDER/MODEL`: a conversation with a real model through the real backend, in its own
 * sandbox. Without the key that the provider needs, it names the missing variable and starts nothing.
 */
import { createInterface } from "node:readline/promises";
import { z } from "zod";
import { openSession } from "./replay/player.ts";
import { startBackend } from "./support/backend.ts";
import { readCommandLine, wholeNumber } from "./support/command-line.ts";
import { print, runScript } from "./support/output.ts";
import { useUntilStopped } from "./support/stop-signal.ts";
import { holdTurn, type Talk } from "./try/hold-turn.ts";
import { chooseModel, TRIED_PROVIDERS, type TriedModel } from "./try/provider.ts";
import { showCompactions, showTotals } from "./try/receipts.ts";
import { SCRIPT, SYSTEM, TOOLS } from "./try/script.ts";

const USAGE = `Usage: npm run try -- --model PROVIDER/MODEL [options] [message…]
  --model PROVIDER/MODEL  one of ${TRIED_PROVIDERS.join(", ")},
                          and the provider's name for the model: anthropic/claude-sonnet-5-5, embedded/embedded
  --window N              context window to work with, in tokens (32000); 1200 shows a compaction
  --base-url URL          the provider's address; openai-compatible needs one
  --interactive           each line of the input is a message, to the end of the input
  message…                each is a turn; without any, a short conversation with a tool call is held
Keys: OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY, OPENAI_COMPATIBLE_API_KEY; embedded needs none.`;

function readOptions() {
  return readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: {
      model: { type: "string" },
      window: { type: "string", default: "32000" },
      "base-url": { type: "string" },
      interactive: { type: "boolean", default: false },
    },
    schema: z
      .object({
        files: z.array(z.string().min(1, "A message must say something.")),
        model: z.string("is missing: PROVIDER/MODEL"),
        window: wholeNumber(1_024, 10_000_000),
        "base-url": z.url().optional(),
        interactive: z.boolean(),
      })
      .refine((given) => !given.interactive || given.files.length === 0, { path: ["interactive"], message: "goes without messages" }),
  });
}

async function* typedLines(): AsyncGenerator<string> {
  const lines = createInterface({ input: process.stdin, terminal: false });
  for await (const line of lines) if (line.trim() !== "") yield line.trim();
}

async function converse(talk: Talk, messages: AsyncIterable<string> | Iterable<string>): Promise<void> {
  const shown = new Set<string>();
  let turns = 0;
  for await (const message of messages) {
    await holdTurn(talk, message);
    await showCompactions(talk, shown);
    turns += 1;
  }
  await showTotals(talk, turns);
}

async function run({ id, variables }: TriedModel, messages: AsyncIterable<string> | Iterable<string>): Promise<void> {
  await useUntilStopped(
    () => startBackend(variables),
    async ({ connection }) => {
      const session = await openSession(connection, { model: id, system: SYSTEM, tools: TOOLS });
      print(`Talking to ${id}.`);
      const write = (text: string): void => void process.stdout.write(text);
      await converse({ connection, session, write }, messages);
    },
  );
}

async function main(): Promise<number> {
  const { files, model, window, "base-url": base_url = null, interactive } = readOptions();
  const tried = chooseModel({ model, window, base_url }, process.env);
  await run(tried, interactive ? typedLines() : files.length > 0 ? files : SCRIPT);
  return 0;
}

await runScript(main);
