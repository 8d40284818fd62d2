/** The agents, set up as their pages in docs/clients say: what a reader pastes is what runs here, with other values. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../support/paths.ts";

/** What is put in the place of a page's values. */
export interface Place {
  /** The base of every surface, without `/v1`. */
  readonly url: string;
  readonly key: string;
  readonly model: string;
  /** The window that the agent is told, in tokens. */
  readonly window: number;
  /** A name of the conversation, for agents that give none. Null: the request names no session. */
  readonly conversation: string | null;
  /** An empty directory: the agent's home. */
  readonly home: string;
}

export interface Started {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Client {
  readonly name: string;
  /** The npm package, and the command that it brings. */
  readonly package: string;
  readonly bin: string;
  /** The window of the model without a session, in tokens, where the usual one is not filled. */
  readonly window?: number;
  /** Whether the agent has subagents that its model can call. */
  readonly hasHelpers: boolean;
  /** Writes the agent's configuration into its home, and returns its command line. */
  prepare(place: Place, prompt: string): Started;
}

const FENCE = /^```(\w+)\n([\s\S]*?)^```/gm;

/** A page's block of this language, with its values replaced. */
function readBlock(page: string, language: string, { url, key, model, window }: Place): string {
  const text = readFileSync(join(ROOT, "docs", "clients", `${page}.md`), "utf8");
  const [, , block] = [...text.matchAll(FENCE)].find(([, found]) => found === language) ?? [];
  if (block === undefined) throw new Error(`docs/clients/${page}.md has no block of ${language}`);
  return block
    .replaceAll("http://127.0.0.1:8787", url)
    .replaceAll("lh_dev_…", key)
    .replaceAll(/\bembedded\b/g, model)
    .replaceAll("1000000", String(window));
}

/** `export NAME=value` of a page's commands. */
function readExports(page: string, place: Place): Record<string, string> {
  const found = [...readBlock(page, "sh", place).matchAll(/^export (.+)$/gm)].flatMap(([, line = ""]) => [
    ...line.matchAll(/(\w+)=(\S+)/g),
  ]);
  return Object.fromEntries(found.map(([, name = "", value = ""]) => [name, value]));
}

/** The environment of a page, with a conversation that is named here. */
function readEnvironment(page: string, place: Place): Record<string, string> {
  const { LONGHAND_SESSION: _, ...rest } = readExports(page, place);
  return { ...rest, ...(place.conversation !== null && { LONGHAND_SESSION: place.conversation }) };
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const codex: Client = {
  name: "Codex",
  package: "@openai/codex",
  bin: "codex",
  // It cuts long outputs itself.
  window: 40_000,
  hasHelpers: true,
  prepare(place, prompt) {
    write(join(place.home, ".codex", "config.toml"), readBlock("codex", "toml", place));
    const args = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt];
    return { args, env: { ...readExports("codex", place), CODEX_HOME: join(place.home, ".codex") } };
  },
};

const claude: Client = {
  name: "Claude Code",
  package: "@anthropic-ai/claude-code",
  bin: "claude",
  hasHelpers: true,
  prepare: (place, prompt) => ({
    args: ["-p", prompt, "--dangerously-skip-permissions"],
    // It refuses to run without permissions as root, unless it is told that it is in a sandbox.
    env: { ...readExports("claude-code", place), IS_SANDBOX: "1" },
  }),
};

const opencode = (sdk: string): Client => ({
  name: `opencode, ${sdk}`,
  package: "opencode-ai",
  bin: "opencode",
  hasHelpers: true,
  prepare(place, prompt) {
    const config = readBlock("opencode", "json", place).replace("@ai-sdk/openai-compatible", `@ai-sdk/${sdk}`);
    write(join(place.home, ".config", "opencode", "opencode.json"), config);
    const quiet = { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" };
    return { args: ["run", prompt], env: { ...readExports("opencode", place), ...quiet } };
  },
});

const pi: Client = {
  name: "pi",
  package: "@mariozechner/pi-coding-agent",
  bin: "pi",
  hasHelpers: false,
  prepare(place, prompt) {
    write(join(place.home, ".pi", "agent", "models.json"), readBlock("pi", "json", place));
    return {
      args: ["-p", "--provider", "longhand", "--model", place.model, prompt],
      env: { ...readEnvironment("pi", place), PI_OFFLINE: "1" },
    };
  },
};

const qwen: Client = {
  name: "Qwen Code",
  package: "@qwen-code/qwen-code",
  bin: "qwen",
  hasHelpers: true,
  prepare(place, prompt) {
    write(join(place.home, ".qwen", "settings.json"), readBlock("qwen-code", "json", place));
    return { args: ["--yolo", "-p", prompt], env: { ...readEnvironment("qwen-code", place), QWEN_CODE_SUPPRESS_YOLO_WARNING: "1" } };
  },
};

export const CLIENTS: readonly Client[] = [
  codex,
  claude,
  opencode("openai-compatible"),
  opencode("openai"),
  opencode("anthropic"),
  pi,
  qwen,
];
