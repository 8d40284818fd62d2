/** When a server counts as lost, tested with a server and a log of the test. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { LocalServer } from "../../scripts/support/local-server";
import { CRASHED, RESTARTS, RestartBudget, untilLost } from "../../scripts/support/server-watch";

const TIMES = { poll: 5, patience: 200 };
const CRASH_LINE = `[wrangler:warn] ${CRASHED} and is being restarted (crash #1).\n`;

let directory: string;
let server: Server;
let end: () => void;
let local: LocalServer;
/** The server's handling of a request. */
let answer: "ok" | "nothing" = "ok";
let asked: Promise<void>;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "longhand-watch-"));
  const log = join(directory, "server.log");
  writeFileSync(log, CRASH_LINE);
  const heard = Promise.withResolvers<void>();
  asked = heard.promise;
  server = createServer((_, response) => {
    if (answer === "ok") response.end("{}", () => heard.resolve());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : null;
  const exited = Promise.withResolvers<void>();
  end = exited.resolve;
  const done = (): Promise<void> => exited.promise;
  local = { url: `http://127.0.0.1:${port}`, log, exited: exited.promise, stop: done, kill: done };
});

afterEach(() => {
  end();
  server.closeAllConnections();
  server.close();
  rmSync(directory, { recursive: true });
});

test("a server whose workerd died and that holds every request since is lost", async () => {
  answer = "nothing";
  const lost = untilLost(local, TIMES);
  appendFileSync(local.log, CRASH_LINE.slice(0, 30));
  appendFileSync(local.log, CRASH_LINE.slice(30));
  expect(await lost).toBe("silent");
});

test("one that answers again is not, and is lost when it ends", async () => {
  answer = "ok";
  const lost = untilLost(local, TIMES);
  appendFileSync(local.log, CRASH_LINE);
  await asked;
  end();
  expect(await lost).toBe("ended");
});

test("starts in short order are given up, and count no more when they are long past", () => {
  const budget = new RestartBudget();
  const taken = Array.from({ length: RESTARTS.most + 1 }, (_, index) => budget.take(index));
  expect(taken).toEqual([...Array.from({ length: RESTARTS.most }, () => true), false]);
  expect(budget.take(RESTARTS.within)).toBe(true);
});

test("the installed Miniflare says it in these words", () => {
  expect(readFileSync("node_modules/miniflare/dist/src/index.js", "utf8")).toContain(CRASHED);
});
