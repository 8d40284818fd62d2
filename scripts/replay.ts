/**
 * `npm run replay -- FILE.jsonl`: plays recorded conversations through the HTTP API. The provider stand-in sends the
 * recorded replies and tool calls, and the client returns the recorded tool results. At the end everything is read back
 * and compared with the recording. The command fails on a difference, and when a request did not fit.
 */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { z } from "zod";
import { type StandIn, startStandIn } from "../test/support/stand-in/stand-in.ts";
import type { Reply } from "./lab/engine/steps";
import { deriveTools, type ExpectedMessage, expectMessages, planSteps } from "./replay/plan.ts";
import { openSession, playStep } from "./replay/player.ts";
import { findDifference, readMessages } from "./replay/read-back.ts";
import { type Conversation, readConversations } from "./replay/recording.ts";
import { findFault, formatTable, type Report, toReport } from "./replay/report.ts";
import { countDrops, waitForCompactions } from "./replay/settle.ts";
import { generateToolRun } from "./replay/tool-run.ts";
import { type Connection, callApi } from "./support/api-client.ts";
import { openBackend } from "./support/backend.ts";
import { readCommandLine, wholeNumber } from "./support/command-line.ts";
import { Failure, print, runScript, say } from "./support/output.ts";
import { startProgress } from "./support/progress.ts";
import { useUntilStopped } from "./support/stop-signal.ts";

const USAGE = `Usage: npm run replay -- FILE.jsonl [options]
  FILE.jsonl    recorded conversations (docs/recordings.md has the format)
  --generated SEED   a generated run of tools in place of a file
  --window N    context window of the model, in tokens (16000)
  --together    one session of all conversations, instead of one each
  --limit N     only the first N conversations
  --url URL --key KEY   a running server (default: .longhand/dev.json; else one is started for this run)
  --keep        leave the sessions and the model (removed when all went well)
  --sandbox     a server of its own for this run, even if one is running
  --json        figures as JSON`;

const MAX_OUTPUT = 1024;

function readOptions() {
  return readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: {
      generated: { type: "string" },
      window: { type: "string", default: "16000" },
      together: { type: "boolean", default: false },
      limit: { type: "string", default: "1000000" },
      url: { type: "string" },
      key: { type: "string" },
      keep: { type: "boolean", default: false },
      sandbox: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
    schema: z
      .object({
        files: z.array(z.string()),
        generated: wholeNumber(1, 1_000_000).optional(),
        window: wholeNumber(1024, 10_000_000),
        together: z.boolean(),
        limit: wholeNumber(1, 1_000_000),
        url: z.url().optional(),
        key: z.string().optional(),
        keep: z.boolean(),
        sandbox: z.boolean(),
        json: z.boolean(),
      })
      .refine(({ files, generated }) => files.length === (generated === undefined ? 1 : 0), "Name one file."),
  });
}

/** Conversations that share a session, and the items that the session must contain. */
interface Performance {
  readonly session: string;
  readonly conversations: readonly Conversation[];
}

interface Script {
  readonly conversations: readonly Conversation[];
  /** One session for all conversations. */
  readonly together: boolean;
  /** Everything that was created for the run remains. */
  readonly keep: boolean;
}

interface Stage {
  readonly connection: Connection;
  readonly provider: StandIn;
  readonly window: number;
}

/** The model is named after this run, so that it does not conflict with another run or a model of the tenant. */
async function registerModel({ connection, provider, window }: Stage): Promise<string> {
  const model = `replay-${window}-${randomUUID()}`;
  const body = { provider: "openai-compatible", base_url: provider.baseUrl, context_window: window, max_output: MAX_OUTPUT };
  await callApi(connection, { method: "PUT", path: `/v1/models/${model}`, body });
  return model;
}

/** Several recordings share one system prompt, which the first of them contains. */
async function openPerformances({ connection }: Stage, model: string, { conversations, together }: Script): Promise<Performance[]> {
  const system = conversations.find((conversation) => conversation.system)?.system ?? null;
  const casts = together ? [conversations] : conversations.map((conversation) => [conversation]);
  const performances: Performance[] = [];
  for (const cast of casts) {
    const session = await openSession(connection, { model, system, tools: deriveTools(cast) });
    performances.push({ session, conversations: cast });
  }
  return performances;
}

/** Resolves with the number of turns. */
async function play({ connection, provider }: Stage, performances: readonly Performance[]): Promise<number> {
  const parts = performances.flatMap(({ session, conversations }) =>
    conversations.flatMap((conversation) => planSteps(conversation).map((step) => ({ session, step }))),
  );
  const progress = startProgress("replay", parts.length);
  const prompt = ({ text, calls }: Reply): void => provider.enqueue({ text, tool_calls: calls });
  for (const [index, { session, step }] of parts.entries()) {
    await playStep({ connection, session, prompt }, step);
    progress.show(index + 1, `${provider.totals().compactions} compactions`);
  }
  progress.end();
  return parts.filter(({ step }) => step.type === "ask").length;
}

async function compare(connection: Connection, { session, conversations }: Performance): Promise<void> {
  const expected: readonly ExpectedMessage[] = conversations.flatMap(expectMessages);
  const difference = findDifference(expected, await readMessages(connection, session));
  if (difference !== null) throw new Failure(`What was read back is not what was recorded (session ${session}).\n${difference}`);
}

async function perform(stage: Stage, script: Script): Promise<Report> {
  const { conversations } = script;
  const startedAt = performance.now();
  const model = await registerModel(stage);
  const performances = await openPerformances(stage, model, script);
  const turns = await play(stage, performances);
  const sessions = performances.map(({ session }) => session);
  await waitForCompactions(stage.connection, sessions);
  const wall_ms = Math.round(performance.now() - startedAt);
  for (const each of performances) await compare(stage.connection, each);
  const messages = conversations.reduce((sum, conversation) => sum + conversation.messages.length, 0);
  const drops_without_summary = await countDrops(stage.connection, sessions);
  const report = toReport(stage.provider.log, { turns, messages, window: stage.window, wall_ms, drops_without_summary });
  if (script.keep || findFault(report) !== null) say(`Kept: ${[...sessions, model].join(", ")}`);
  else await strike(stage.connection, { model, sessions });
  return report;
}

/** The model is deleted last, because a remaining session may still use it. */
async function strike(connection: Connection, made: { readonly model: string; readonly sessions: readonly string[] }): Promise<void> {
  for (const session of made.sessions) await callApi(connection, { method: "DELETE", path: `/v1/sessions/${session}` });
  await callApi(connection, { method: "DELETE", path: `/v1/models/${made.model}` });
}

async function main(): Promise<number> {
  const { files, generated, window, together, keep, limit, json, ...where } = readOptions();
  const recorded = files.flatMap((file) => readConversations(resolve(process.env.INIT_CWD ?? ".", file), limit));
  const conversations = generated === undefined ? recorded : [generateToolRun(generated)];
  const reserve = Math.min(MAX_OUTPUT, 4096, Math.floor(window / 16));
  const provider = await startStandIn({ window, reserve });
  try {
    const report = await useUntilStopped(
      () => openBackend(where),
      ({ connection }) => perform({ connection, provider, window }, { conversations, together, keep }),
    );
    print(json ? JSON.stringify(report) : formatTable(report));
    const fault = findFault(report);
    if (fault !== null) say(`wrong: ${fault}`);
    return fault === null ? 0 : 1;
  } finally {
    await provider.close();
  }
}

await runScript(main);
