/** One server at a time on a checkout's data, tested with real processes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { takeServerLock } from "../../scripts/support/server-lock";

const directory = mkdtempSync(join(tmpdir(), "longhand-lock-"));
const MODULE = join(import.meta.dirname, "..", "..", "scripts", "support", "server-lock.ts");
const self = { pid: process.pid, url: "http://127.0.0.1:1" };

afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Another process that takes the lock and holds it until it is killed. */
async function startHolder(path: string, url: string) {
  const code = `const { takeServerLock } = await import(${JSON.stringify(MODULE)});
    globalThis.lock = takeServerLock(${JSON.stringify(path)}, { pid: process.pid, url: ${JSON.stringify(url)} });
    process.stdout.write(String(globalThis.lock.taken));
    setInterval(() => undefined, 60_000);`;
  const quiet = "--disable-warning=ExperimentalWarning";
  const child = spawn(process.execPath, [quiet, "--input-type=module", "--eval", code], { stdio: ["ignore", "pipe", "inherit"] });
  const [taken] = await once(child.stdout, "data");
  return { child, taken: String(taken) };
}

test("a second process is refused, and told who holds the lock and where", async () => {
  const path = join(directory, "held.lock");
  const { child, taken } = await startHolder(path, "http://127.0.0.1:2");
  expect(taken).toBe("true");
  expect(takeServerLock(path, self)).toEqual({ taken: false, holder: { pid: child.pid, url: "http://127.0.0.1:2" } });
  child.kill("SIGKILL");
  await once(child, "exit");
});

test("the lock of a process that was killed is free", async () => {
  const path = join(directory, "stale.lock");
  const { child } = await startHolder(path, "http://127.0.0.1:2");
  child.kill("SIGKILL");
  await once(child, "exit");
  const taken = takeServerLock(path, self);
  expect(taken.taken).toBe(true);
  if (taken.taken) taken.release();
});

test("a lock that was given back can be taken again", () => {
  const path = join(directory, "released.lock");
  const first = takeServerLock(path, self);
  if (first.taken) first.release();
  const second = takeServerLock(path, self);
  expect([first.taken, second.taken]).toEqual([true, true]);
  if (second.taken) second.release();
});
