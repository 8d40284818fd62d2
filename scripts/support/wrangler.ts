/** The installed Wrangler's command line, without a terminal. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { ROOT } from "./paths.ts";

export const WRANGLER = join(ROOT, "node_modules", "wrangler", "bin", "wrangler.js");

/** Runs one command in `root` to its end. `output` is its output on stdout and stderr, in order. */
export async function runWrangler(
  args: readonly string[],
  root: string = ROOT,
): Promise<{ readonly code: number; readonly output: string }> {
  const child = spawn(process.execPath, [WRANGLER, ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const collect = (text: string): void => {
    output += text;
  };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", collect);
  const [code] = await once(child, "close");
  return { code: typeof code === "number" ? code : 1, output };
}
