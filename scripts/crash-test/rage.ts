/** Kills and restarts the server while others use it. */
import { setTimeout as delay } from "node:timers/promises";
import type { LocalServer } from "../support/local-server.ts";
import { say } from "../support/output.ts";
import { startProgress } from "../support/progress.ts";
import type { Random } from "../support/random.ts";
import type { Sandbox } from "../support/sandbox.ts";

interface Rage {
  readonly kills: number;
  readonly random: Random;
  /** How long a server runs between being ready and being killed, in milliseconds. */
  readonly life: { readonly least: number; readonly most: number };
  /** Resolves when the kill of this number (from 1) may come. Absent: at once. */
  readonly until?: (kill: number) => Promise<void>;
}

const STARTS = 3;

/** On a machine that is busy with other work a start may take longer than a minute. */
async function start(sandbox: Sandbox, tries = 1): Promise<LocalServer> {
  try {
    return await sandbox.start();
  } catch (error) {
    if (tries >= STARTS) throw error;
    say("the server did not start within a minute, and is killed and started again");
    return start(sandbox, tries + 1);
  }
}

/** Returns the server that is running at the end. */
export async function rage(sandbox: Sandbox, first: LocalServer, { kills, random, life, until }: Rage): Promise<LocalServer> {
  const progress = startProgress("kills", kills);
  let server = first;
  for (let kill = 1; kill <= kills; kill++) {
    await until?.(kill);
    await delay(random.between(life.least, life.most));
    await server.kill();
    server = await start(sandbox);
    progress.show(kill);
  }
  progress.end();
  return server;
}
