/**
 * Runs `wrangler dev` and ensures that none of its processes remains. Wrangler leaves workerd running when it is
 * killed, and the parent process may be killed too. Our stdin is a pipe from the parent: when it closes, for any
 * reason, the whole process group ends. Started as the leader of its own group; arguments: those of Wrangler.
 */
import { spawn } from "node:child_process";
import { WRANGLER } from "./wrangler.ts";

/** Maximum time for Wrangler to stop by itself, in milliseconds. */
const GRACE = 3000;

const wrangler = spawn(process.execPath, [WRANGLER, ...process.argv.slice(2)], { stdio: ["ignore", "inherit", "inherit"] });

let stopping = false;
function stop(): void {
  if (stopping) return;
  stopping = true;
  wrangler.kill("SIGTERM");
  setTimeout(endGroup, GRACE);
}

/** Ends this process too, because it is the group's leader. */
function endGroup(): void {
  process.kill(-process.pid, "SIGKILL");
}

process.stdin.on("end", stop).on("error", stop).resume();
process.on("SIGTERM", stop);
// A terminal's Ctrl-C does not reach this group, but a person may send the signal by hand.
process.on("SIGINT", stop);
wrangler.on("exit", endGroup);
wrangler.on("error", endGroup);
