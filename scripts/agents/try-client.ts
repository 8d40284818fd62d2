/** Runs one agent on one task through a server, and judges what came of it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { type Connection, callApi } from "../support/api-client.ts";
import type { Client } from "./clients.ts";
import { startTaskModel, type Task, type TaskModel, writeTask } from "./task-model.ts";
import { type Exchange, startWatchingProxy, type WatchingProxy } from "./watching-proxy.ts";

/**
 * `stateless`: no session, and the agent is told the model's window. `session`: the agent is told a large window, so that only Longhand
 * compacts. `killed`: as `session`, and the server dies in the middle. `interrupted`: Ctrl-C while the model talks.
 */
export const MODES = ["stateless", "session", "killed", "interrupted"] as const;
export type Mode = (typeof MODES)[number];

export interface Scene {
  readonly connection: Connection;
  /** The commands of the installed agents. */
  readonly bin: string;
  readonly rounds: number;
  /** The machine does other work, so that a stop may take longer than a second. */
  readonly isPatient: boolean;
  /** Ends the server as a power failure would, and starts it again in the same place. */
  restart(): Promise<void>;
}

export interface Outcome {
  readonly window: number;
  readonly rounds: number;
  readonly refused: number;
  /** Requests that were answered without a session. */
  readonly beside: number;
  readonly compactions: number;
  /** Milliseconds from Ctrl-C to the end of the model's call. Null: there was none. */
  readonly stopped: number | null;
  /** Null: all is as it should be. */
  readonly fault: string | null;
  /** The end of what the agent printed. */
  readonly output: string;
  readonly exchanges: readonly Exchange[];
}

const MODEL = "agent";
/** The tasks need more, and the instructions of each agent less. */
const WINDOWS: Readonly<Record<Mode, number>> = { stateless: 64_000, session: 36_000, killed: 36_000, interrupted: 36_000 };
const LARGE = 1_000_000;
/** Lines of each result. Some agents cut a longer one. */
const LINES: Readonly<Record<Mode, number>> = { stateless: 450, session: 300, killed: 300, interrupted: 0 };
const HELPER_ROUND = 4;
const KILL_ROUND = 6;
const MOST_MS = 90_000;
const STOP_MS = 1_000;
const PATIENT_STOP_MS = 10_000;

export async function tryClient(client: Client, mode: Mode, scene: Scene): Promise<Outcome> {
  const window = (mode === "stateless" ? client.window : undefined) ?? WINDOWS[mode];
  const model = await startTaskModel(window);
  const proxy = await startWatchingProxy(scene.connection.url);
  const home = mkdtempSync(join(tmpdir(), "longhand-agent-"));
  try {
    const spec = { provider: "openai-compatible", base_url: model.standIn.baseUrl, context_window: window, max_output: 2_048 };
    await callApi(scene.connection, { method: "PUT", path: `/v1/models/${MODEL}`, body: spec });
    const key = mode === "stateless" ? scene.connection.key : await makeKey(scene.connection);
    const task: Task = {
      name: client.name.replace(/\W+/g, "-"),
      rounds: scene.rounds,
      lines: LINES[mode],
      subagent: client.hasHelpers ? HELPER_ROUND : 0,
      talk: mode === "interrupted",
    };
    const place = { url: proxy.url, key, model: MODEL, window: mode === "stateless" ? window : LARGE, home };
    const conversation = mode === "stateless" ? null : `try ${task.name} ${mode}`;
    const agent = startAgent(client.prepare({ ...place, conversation }, `Please do this: ${writeTask(task)}`), { client, scene, home });
    const watched = { client, mode, model, proxy, task, window };
    const stopped = mode === "interrupted" ? await interrupt(agent, watched) : null;
    if (mode === "killed") await killAt(KILL_ROUND, { ...watched, agent, scene });
    await agent.ended;
    return {
      ...count(watched),
      stopped,
      fault: stopped === null ? judge(watched) : judgeStop(stopped, scene),
      output: agent.output().slice(-1_000),
      exchanges: proxy.exchanges,
    };
  } finally {
    proxy.close();
    await model.standIn.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function makeKey(connection: Connection): Promise<string> {
  const clients = { session_header: "create", on_disconnect: "stop" };
  const made = await callApi(connection, { method: "POST", path: "/v1/keys", body: { name: "agents", clients } });
  return z.object({ key: z.string() }).parse(made).key;
}

interface Agent {
  readonly process: ChildProcess;
  readonly ended: Promise<unknown>;
  output(): string;
}

interface Starting {
  readonly client: Client;
  readonly scene: Scene;
  readonly home: string;
}

/** An agent that takes too long is ended. */
function startAgent({ args, env }: ReturnType<Client["prepare"]>, { client, scene, home }: Starting): Agent {
  const cwd = join(home, "work");
  mkdirSync(cwd);
  const child = spawn(join(scene.bin, client.bin), args, {
    cwd,
    // A group of its own, because Ctrl-C in a terminal reaches all processes of an agent.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH ?? "", HOME: home, TMPDIR: home, ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (output += piece));
  const timer = setTimeout(() => signal(child, "SIGKILL"), MOST_MS);
  const ended = once(child, "exit").finally(() => clearTimeout(timer));
  return { process: child, ended, output: () => output };
}

function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  if (pid !== undefined) process.kill(-pid, name);
}

interface Watched {
  readonly client: Client;
  readonly mode: Mode;
  readonly model: TaskModel;
  readonly proxy: WatchingProxy;
  readonly task: Task;
  readonly window: number;
}

const POLL = 20;

/** Whether it came to be before the agent ended, or the longest time was over. */
async function until(isSo: () => boolean, agent: Agent): Promise<boolean> {
  const end = Date.now() + MOST_MS;
  while (!isSo() && Date.now() < end && agent.process.exitCode === null) await delay(POLL);
  return isSo();
}

/** Milliseconds. Infinite: the model was not asked. */
async function interrupt(agent: Agent, { model, task }: Watched): Promise<number> {
  const isTalking = (): boolean => (model.progress.get(task.name)?.lastPiece ?? 0) > 0;
  if (!(await until(isTalking, agent))) return Number.POSITIVE_INFINITY;
  signal(agent.process, "SIGINT");
  const at = Date.now();
  const talking = model.standIn.log.findLast(({ kind, status }) => kind === "turn" && status === 200);
  // The agent itself may be gone before the model hears of it.
  while (talking?.aborted !== true && Date.now() - at < PATIENT_STOP_MS) await delay(POLL);
  return Date.now() - at;
}

const judgeStop = (took: number, { isPatient }: Scene): string | null =>
  took < (isPatient ? PATIENT_STOP_MS : STOP_MS) ? null : `the model talked for ${took} ms after Ctrl-C`;

interface Killing extends Watched {
  readonly agent: Agent;
  readonly scene: Scene;
}

async function killAt(round: number, { model, task, agent, scene }: Killing): Promise<void> {
  await until(() => (model.progress.get(task.name)?.round ?? 0) >= round, agent);
  await scene.restart();
}

/** A request of the task that is shorter than the one before follows a compaction: a conversation otherwise grows. */
function countCompactions({ model, task }: Watched): number {
  const sizes = model.standIn.log.filter(({ raw }) => raw.includes(`[task ${task.name} `)).filter(({ kind }) => kind === "turn");
  return sizes.filter(({ prompt_tokens }, index) => prompt_tokens < 0.95 * (sizes[index - 1]?.prompt_tokens ?? 0)).length;
}

function count(watched: Watched): Omit<Outcome, "stopped" | "fault" | "output" | "exchanges"> {
  const { proxy, model, task, window } = watched;
  const asked = proxy.exchanges.filter(({ method }) => method === "POST");
  return {
    window,
    rounds: model.progress.get(task.name)?.round ?? 0,
    refused: asked.filter(({ status }) => status >= 400).length,
    beside: asked.filter(({ status, answerHeaders }) => status === 200 && answerHeaders["x-session-id"] === undefined).length,
    compactions: countCompactions(watched),
  };
}

/** Null: the task was done, and in a session nothing was refused, lost or too long for the model. */
function judge(watched: Watched): string | null {
  const { client, mode, model, task } = watched;
  const known = model.progress.get(task.name);
  const { compactions, refused } = count(watched);
  if (!known?.done) return `the task ended in round ${known?.round ?? 0}`;
  const uncompacted = compactions > 0 ? null : `the conversation was never compacted, with ${known.read} characters of results`;
  if (mode === "stateless") return uncompacted;
  if (known.lost.length > 0 && mode === "session") return `the results of rounds ${known.lost.join(", ")} did not reach the model`;
  if (client.hasHelpers && !model.progress.get(`${task.name}-part`)?.done) return "the subagent did not end its part";
  if (mode === "killed") return null;
  if (refused > 0) return `${refused} requests were refused`;
  if (model.standIn.log.some(({ overflow }) => overflow)) return "a request was too long for the model";
  return uncompacted;
}
