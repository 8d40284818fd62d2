/**
 * Runs `wrangler dev` and sees to it that nothing of it stays behind. Wrangler leaves workerd running when it is
 * killed, and whoever started us may be killed too: our stdin is a pipe from them, and when it closes, for whatever
 * reason, the whole process group goes. Started as the leader of its own group; arguments: Wrangler's.
 */
import { spawn } from "node:child_process";
import { WRANGLER } from "./wrangler.ts";

/** How long Wrangler may take to stop by itself, in milliseconds. */
const GRACE = 3000;

const wrangler = spawn(process.execPath, [WRANGLER, ...process.argv.slice(2)], { stdio: ["ignore", "inherit", "inherit"] });

let stopping = false;
function stop(): void {
  if (stopping) return;
  stopping = true;
  wrangler.kill("SIGTERM");
  setTimeout(endGroup, GRACE);
}

/** Ends this process too: it is the group's leader. */
function endGroup(): void {
  process.kill(-process.pid, "SIGKILL");
}

process.stdin.on("end", stop).on("error", stop).resume();
process.on("SIGTERM", stop);
// A terminal's Ctrl-C does not reach this group, but a person may send it by hand.
process.on("SIGINT", stop);
wrangler.on("exit", endGroup);
wrangler.on("error", endGroup);
