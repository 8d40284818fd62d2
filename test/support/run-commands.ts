/** Runs the commands of documentation pages as one pastes them: all blocks of a page in one bash or zsh. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { killGroup } from "../../scripts/support/local-server";
import type { CommandBlock } from "./doc-pages";

export const SHELLS = ["bash", "zsh"].map((shell) => ({ shell, missing: spawnSync(shell, ["-c", "true"]).status !== 0 }));

export interface CommandsRun {
  readonly code: unknown;
  /** The end of what it wrote, errors too. */
  readonly said: string;
  /** What each block printed. */
  readonly outputs: readonly string[];
}

/** Stands between the outputs of two blocks. */
const SEPARATOR = "\x1e";
const SAID_CHARACTERS = 4_000;

export async function runCommands(
  shell: string,
  blocks: readonly Pick<CommandBlock, "commands">[],
  place: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<CommandsRun> {
  const script = blocks.map(({ commands }) => commands).join("\nprintf '\\036'\n");
  const options = shell === "zsh" ? ["-f"] : ["--noprofile", "--norc"];
  const child = spawn(shell, [...options, "-e", "-u", "-c", script], { ...place, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let [said, printed] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-SAID_CHARACTERS);
    printed += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-SAID_CHARACTERS);
  });
  const closed = once(child, "close");
  const [code] = await once(child, "exit");
  // A page that fails in the middle may leave a service running, which would hold its output open.
  killGroup(child.pid);
  await closed;
  return { code, said, outputs: printed.split(SEPARATOR) };
}
