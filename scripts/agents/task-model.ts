/**
 * A model that works as an agent's model does, over HTTP: it runs a shell command in each round until its task is done, and hands a part to a
 * subagent where it is asked to. What it is asked to do stands in the task's words, so that it needs no memory: every
 * compaction of the conversation has to keep them.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type StandIn, startStandIn } from "../../test/support/stand-in/stand-in.ts";
import { cutSummary } from "../../test/support/stand-in/summary.ts";
import { contentText, type Reply, type WireMessage, type WireRequest } from "../../test/support/stand-in/wire.ts";

/** An agent that compacts by itself sends its tools, too, so that the provider's cache holds. */
const ASKS_FOR_TEXT = /Respond with TEXT ONLY/;

/** What an agent is asked to do. */
export interface Task {
  readonly name: string;
  readonly rounds: number;
  /** Lines of the output of each round's command. */
  readonly lines: number;
  /** The round in which a subagent is asked. 0: none. */
  readonly subagent: number;
  /** Whether the model talks for minutes instead of working. */
  readonly talk: boolean;
}

const TASK = /\[task (\S+) rounds=(\d+) lines=(\d+) subagent=(\d+) talk=(true|false)\]/g;

export const writeTask = ({ name, rounds, lines, subagent, talk }: Task): string =>
  `[task ${name} rounds=${rounds} lines=${lines} subagent=${subagent} talk=${talk}]`;

/** How far a task has come, as its model saw it. */
export interface Progress {
  readonly task: Task;
  /** Calls that the model made. */
  round: number;
  /** Characters of the results that came. */
  read: number;
  /** Rounds whose result was not in the next request. */
  readonly lost: number[];
  done: boolean;
  /** In milliseconds since the epoch: the model's last piece of a long reply. */
  lastPiece: number;
}

export interface TaskModel {
  readonly standIn: StandIn;
  readonly progress: ReadonlyMap<string, Progress>;
}

/** A tool of Codex that runs a program, which calls the shell. */
const PROGRAMS = "functions__exec";
const SHELLS = [PROGRAMS, "Bash", "bash", "exec_command", "shell_command", "shell", "local_shell", "run_shell_command"];
/** The kind of helper, where it is not the usual name: opencode's. */
const HELPER_TYPES: Readonly<Record<string, string>> = { task: "general" };
const HELPERS = ["Task", "Agent", "task", "agent", "spawn_agent"];

export const resultMark = (task: string, round: number): string => `${task}:${round}:`;

/** `window`: longer requests are refused, in tokens. */
export async function startTaskModel(window: number): Promise<TaskModel> {
  const progress = new Map<string, Progress>();
  const standIn = await startStandIn({
    window,
    respond: (request) => work(request, progress),
    summarize: (request) => ({ text: summarize(request) }),
  });
  return { standIn, progress };
}

const PART = "-part";
/** About the characters of a line of a result. */
const LINE_LENGTH = 55;

/** The task in what was said: not in calls, nor in results. A summary may name the part that a subagent did, too. */
function findTask(messages: readonly WireMessage[]): Task | null {
  const said = messages.filter(({ role }) => role === "user" || role === "assistant").map(({ content }) => contentText(content));
  const found = [...said.join("\n").matchAll(TASK)];
  const [, name = "", rounds, lines, subagent, talk] = found.findLast(([, each = ""]) => !each.endsWith(PART)) ?? found.at(-1) ?? [];
  if (name === "") return null;
  return { name, rounds: Number(rounds), lines: Number(lines), subagent: Number(subagent), talk: talk === "true" };
}

/** A summary that keeps every task's words. */
function summarize(request: WireRequest): string {
  const all = request.messages.map(({ content }) => contentText(content)).join("\n");
  const tasks = [...new Set(all.match(TASK) ?? [])];
  return `${tasks.join("\n")}\n${cutSummary(request)}`;
}

function work(request: WireRequest, progress: Map<string, Progress>): Reply {
  const task = findTask(request.messages);
  const tools = (request.tools ?? []).flatMap(readTool);
  const shell = tools.find(({ name }) => SHELLS.includes(name));
  if (!task || !shell || ASKS_FOR_TEXT.test(contentText(request.messages.at(-1)?.content ?? "")))
    return { text: task ? summarize(request) : "A task" };
  const known = progress.get(task.name) ?? { task, round: 0, read: 0, lost: [], done: false, lastPiece: 0 };
  progress.set(task.name, known);
  if (task.talk) return talk(known);
  const texts = request.messages.map(({ content }) => contentText(content));
  const mark = resultMark(task.name, known.round);
  if (known.round > 0 && known.round !== task.subagent && !texts.some((text) => text.includes(mark))) known.lost.push(known.round);
  known.read += texts.at(-1)?.length ?? 0;
  if (hasReadAll(known)) {
    known.done = true;
    return { text: `The task ${task.name} is done.` };
  }
  known.round += 1;
  const helper =
    known.round === task.subagent
      ? tools.find(({ name }) => HELPERS.some((helper) => name === helper || name.endsWith(`__${helper}`)))
      : undefined;
  const part: Task = { name: `${task.name}${PART}`, rounds: 2, lines: task.lines, subagent: 0, talk: false };
  const asked = helper ? fill(helper, `Do this part: ${writeTask(part)}`) : fill(shell, writeCall(shell, writeCommand(task, known.round)));
  const { name } = helper ?? shell;
  return {
    text: `Round ${known.round}.`,
    tool_calls: [{ id: `call_${task.name}_${known.round}`, name, arguments: JSON.stringify(asked) }],
  };
}

/** An agent may cut results, at some times and not at others, so that the rounds alone would not fill the window. */
const hasReadAll = ({ task: { rounds, lines }, round, read }: Progress): boolean =>
  round >= rounds && (read >= (rounds * lines * LINE_LENGTH) / 2 || round >= 3 * rounds);

const writeCall = ({ name }: Tool, command: string): string =>
  name === PROGRAMS ? `const run = await tools.exec_command(${JSON.stringify({ cmd: command })}); text(run.output);` : command;

const writeCommand = ({ name, lines }: Task, round: number): string =>
  `i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo "${resultMark(name, round)} line $i of a report that fills the window"; done`;

async function* talk(known: Progress): AsyncGenerator<string> {
  for (let word = 1; word <= 2_000; word++) {
    await delay(50);
    known.lastPiece = Date.now();
    yield `word${word} `;
  }
}

interface Tool {
  readonly name: string;
  readonly properties: Readonly<Record<string, { readonly type?: unknown }>>;
  readonly required: readonly string[];
}

function readTool(tool: Readonly<Record<string, unknown>>): Tool[] {
  const { name, parameters } = tool.function as { name: string; parameters?: Partial<Tool> };
  return [{ name, properties: parameters?.properties ?? {}, required: parameters?.required ?? [] }];
}

const INSTRUCTIONS: ReadonlySet<string> = new Set(["command", "cmd", "prompt", "message", "input"]);

/** Arguments of a tool that takes a command or an instruction. */
const fill = (tool: Tool, words: string): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(tool.properties).flatMap((name) => {
      const value = toArgument(tool, name, words);
      return value === undefined ? [] : [[name, value]];
    }),
  );

function toArgument({ name: tool, properties, required }: Tool, name: string, words: string): unknown {
  const type = properties[name]?.type;
  if (INSTRUCTIONS.has(name)) return type === "array" ? ["bash", "-lc", words] : words;
  if (name === "subagent_type") return HELPER_TYPES[tool] ?? "general-purpose";
  if (!required.includes(name)) return undefined;
  return type === "boolean" ? false : type === "number" ? 60_000 : "A step";
}
