/** `npm run move-tenant` against a server that plays a move: one that was begun before, is out of reach for a moment, and is killed once. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { beginMove, endPhase, FIRST_PLACEMENT, findWait, type Placement } from "../../../src/app/placement";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const TENANT = "ten_01HZZZZZZZ0000000000000001";

interface Played {
  readonly url: string;
  readonly asked: string[];
  placement: Placement;
  /** Steps that are answered 503. */
  away: number;
  close(): void;
}

/** Each POST is one step, and time passes as the waits say. */
async function play(): Promise<Played> {
  let now = 1;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    played.asked.push(`${request.method} ${body}`);
    const answer = (status: number, view: object): void => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(view));
    };
    if (request.method === "POST" && played.away > 0) {
      played.away--;
      return answer(503, { type: "urn:longhand:problem:read_model_unavailable", title: "away", detail: "away" });
    }
    if (request.method === "POST") {
      const begun = beginMove(played.placement, JSON.parse(body).to, now);
      if (!begun.ok) return answer(400, { type: "urn:longhand:problem:invalid_request", title: "x", detail: "x" });
      played.placement = endPhase(begun.value, now);
      now += findWait(played.placement, now);
    }
    const { database, move } = played.placement;
    answer(200, { database, move, wait_ms: move ? 5 : 0 });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const played: Played = { url: `http://127.0.0.1:${port}`, asked: [], placement: FIRST_PLACEMENT, away: 0, close: () => server.close() };
  return played;
}

async function move(url: string, args: readonly string[], killAt?: string): Promise<{ readonly code: unknown; readonly out: string }> {
  const env = { ...process.env, ADMIN_KEY: "an-admin-key" };
  const command = [join("scripts", "run.mjs"), "move-tenant", "--tenant", TENANT, "--url", url, ...args];
  const child = spawn(process.execPath, command, { cwd: ROOT, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      if (killAt !== undefined && out.includes(killAt) && child.pid) process.kill(-child.pid, "SIGKILL");
    });
  const [code] = await once(child, "close");
  return { code, out };
}

test("the command goes through all phases, goes on where a killed one was, and does nothing for a tenant that is there", async () => {
  const server = await play();
  const killed = await move(server.url, ["--to", "DB_2"], ": copy");
  expect(killed.code).toBe(null);
  expect(server.placement.move).not.toBe(null);

  server.away = 2;
  const done = await move(server.url, ["--to", "DB_2"]);
  const repeated = await move(server.url, ["--to", "DB_2"]);
  server.close();

  expect(done.out).toMatch(/(copy|verify).*\n(.|\n)*settle(.|\n)*release(.|\n)*clean(.|\n)*sweep(.|\n)*in DB_2\n$/);
  expect([done.code, repeated.code, repeated.out]).toEqual([0, 0, "in DB_2\n"]);
  expect(server.asked.filter((asked) => asked.startsWith("POST")).every((asked) => asked === 'POST {"to":"DB_2"}')).toBe(true);
}, 60_000);

test("the command needs a tenant and either a database or --cancel", async () => {
  const refused = [await move("http://127.0.0.1:9", []), await move("http://127.0.0.1:9", ["--to", "DB_2", "--cancel"])];
  expect(refused.map(({ code, out }) => [code, out.includes("Give --to DATABASE or --cancel.")])).toEqual([
    [1, true],
    [1, true],
  ]);
}, 60_000);
