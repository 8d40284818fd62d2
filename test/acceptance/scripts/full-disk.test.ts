/** A server whose disk is full: a file system of some megabytes in a namespace of its own. */
import { readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createTenant } from "../../../scripts/support/connection";
import { describeLittleRoom, explainFullDisk } from "../../../scripts/support/disk-room";
import type { LocalServer } from "../../../scripts/support/local-server";
import { Failure } from "../../../scripts/support/output";
import { createSandbox, type Sandbox } from "../../../scripts/support/sandbox";

const ROOM = 24_000_000;
const LIMIT_MS = 120_000;

let sandbox: Sandbox;
let server: LocalServer;
let key: string;

beforeAll(async () => {
  sandbox = await createSandbox({ room: ROOM });
  server = await sandbox.start();
  ({ key } = await createTenant(server.url, sandbox.adminKey));
}, LIMIT_MS);

afterEach(() => makeRoom());
afterAll(() => sandbox.close());

async function ask(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly json: unknown }> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(`${server.url}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  return { status: response.status, json: await response.json() };
}

/** The data as the server sees them. */
const seen = (): string => `/proc/${server.group}/root${sandbox.state}`;

/** Leaves so many bytes, or fewer where the server writes meanwhile. */
function fill(left: number): void {
  makeRoom();
  const { bavail, bsize } = statfsSync(seen());
  const failed = tryTo(() => writeFileSync(join(seen(), "ballast"), Buffer.alloc(Math.max(0, bavail * bsize - left))));
  if (failed && !String(failed).includes("ENOSPC")) throw failed;
}

const makeRoom = (): void => rmSync(join(seen(), "ballast"), { force: true });

test("npm start says in plain words that the disk is full, whatever failed of it", () => {
  fill(0);
  const write = (): void => writeFileSync(join(seen(), "more"), Buffer.alloc(100_000));
  const failures = [tryTo(write), new Error("D1: database or disk is full: SQLITE_FULL")].map((error) => explainFullDisk(error, seen()));

  expect(failures.map((failure) => failure instanceof Failure && failure.message)).toEqual([
    expect.stringMatching(/^The disk of .* is full: 0 MB are left\. Make room/),
    expect.stringMatching(/is full: 0 MB/),
  ]);
  expect(describeLittleRoom(seen())).toMatch(/almost full: 0 MB are left/);
  expect(describeLittleRoom(import.meta.dirname)).toBeNull();
  const other = new Error("Port 8787 is busy");
  expect(explainFullDisk(other, seen())).toBe(other);
});

function tryTo(work: () => void): unknown {
  try {
    work();
    return null;
  } catch (error) {
    return error;
  }
}

const named = z.object({ id: z.string() });

test.each([0, 24_000, 40_000, 60_000, 70_000, 80_000, 90_000, 100_000])(
  "with %i bytes left, a message that does not fit is refused with 507, reads go on, and all goes on when there is room",
  async (left) => {
    const session = named.parse((await ask("POST", "/v1/sessions", {})).json).id;
    const path = `/v1/sessions/${session}`;
    expect((await ask("POST", `${path}/messages`, { content: "before", run: false })).status).toBe(201);
    fill(left);

    const statuses: number[] = [];
    for (let sent = 0; sent < 4; sent++) {
      // The server frees room meanwhile, as when it writes its log of writes into the database. The last message never fits.
      if (sent === 3) fill(left);
      const content = "x".repeat(sent < 3 ? 1 + 20_000 * sent : 400_000);
      statuses.push((await ask("POST", `${path}/messages`, { content, run: sent % 2 === 0 })).status);
      for (const read of [path, `${path}/messages`, `${path}/turns`]) expect((await ask("GET", read)).status, read).toBe(200);
    }
    expect(statuses.at(-1)).toBe(507);
    expect(statuses.filter((status) => ![200, 201, 202, 507].includes(status))).toEqual([]);
    expect(await ask("POST", "/v1/sessions", {})).toMatchObject({ json: { type: expect.stringMatching(/unavailable|storage_full/) } });
    expect((await ask("GET", `${path}/messages?limit=1`)).json).toMatchObject({ data: [{ content: [{ text: "before" }] }] });
    expect(readFileSync(server.log, "utf8")).toContain('"event":"http.disk_full"');

    makeRoom();
    expect((await ask("POST", `${path}/messages`, { content: "after" })).status).toBe(200);
    const { json } = await ask("GET", `${path}/messages?order=desc&limit=2`);
    expect(json).toMatchObject({ data: [{ role: "assistant" }, { content: [{ text: "after" }] }] });
    expect((await ask("DELETE", path)).status).toBe(200);
  },
  LIMIT_MS,
);
