/**
 * The Python program of docs/api/python.md against a running backend, behind a proxy that refuses, loses answers and cuts
 * streams. It runs where Python has httpx, and is at least compiled where there is a Python.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Connection, callApi } from "../../../scripts/support/api-client";
import { writeConnection } from "../../../scripts/support/connection";
import { type BreakingProxy, type Fault, startBreakingProxy } from "../../support/breaking-proxy";
import { readPages } from "../../support/doc-pages";
import { findPrograms, hideVariables } from "../../support/doc-programs";
import { openTenant } from "../../support/shared-server";

const MINUTES = 60_000;
/** The first may be another installation than the system's, without the system's packages. */
const PYTHONS = ["python3", "/usr/bin/python3"];
const runs = (python: string, code: string, input = ""): boolean => spawnSync(python, ["-c", code], { input }).status === 0;
const plain = PYTHONS.find((python) => runs(python, ""));
const withHttpx = PYTHONS.find((python) => runs(python, "import httpx"));

const programs = readPages()
  .filter(({ path }) => path.startsWith("docs/api/"))
  .flatMap(findPrograms)
  .filter(({ language }) => language === "python");
const [program] = programs;

test("there is one Python program for the native API, short enough to be copied, with its output", () => {
  expect(programs.map(({ page }) => page)).toEqual(["docs/api/python.md"]);
  expect(program?.code.split("\n").length).toBeLessThanOrEqual(150);
  expect(program?.output).not.toBeNull();
});

test.skipIf(plain === undefined)("the program compiles (skipped where there is no python3)", () => {
  const compile = "import sys; compile(sys.stdin.read(), 'program.py', 'exec', dont_inherit=True)";
  expect(runs(plain ?? "", compile, program?.code)).toBe(true);
});

describe.skipIf(withHttpx === undefined)("the program (skipped where python3 has no httpx)", () => {
  let proxy: BreakingProxy | undefined;
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "longhand-python-"));
  });

  afterAll(() => {
    proxy?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs the program as a reader would, with a tenant of its own. */
  async function run(faults: Readonly<Record<string, readonly Fault[]>>): Promise<{ said: string; connection: Connection }> {
    proxy?.close();
    const connection = await openTenant();
    proxy = await startBreakingProxy(connection.url, faults);
    writeConnection({ ...connection, url: proxy.url }, join(folder, ".longhand", "dev.json"));
    writeFileSync(join(folder, "program.py"), program?.code ?? "");
    const child = spawn(withHttpx ?? "", ["program.py"], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    const [said, wrong] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(wrong).toBe("");
    return { said, connection };
  }

  const listNames = (): readonly string[] => proxy?.passed.map(({ name }) => name) ?? [];

  test(
    "prints what the page shows",
    async () => {
      const { said } = await run({});
      expect(hideVariables(said)).toBe(hideVariables(program?.output ?? ""));
    },
    MINUTES,
  );

  test(
    "prints the same when requests are refused, answers lost and streams cut, and does nothing twice",
    async () => {
      const messages = "/v1/sessions/*/messages";
      const results = "/v1/sessions/*/tool_results";
      const { said, connection } = await run({
        "POST /v1/sessions": ["lose"],
        [`POST ${messages}`]: ["refuse", { cutBehind: "event: turn.sta" }],
        [`POST ${results}`]: [{ cutBehind: "event: turn.resu" }, { cutBehind: " returned: It is sun" }],
        [`GET ${messages}`]: ["refuse", { cutBehind: '"position"' }],
      });

      expect(hideVariables(said)).toBe(hideVariables(program?.output ?? ""));
      expect(listNames()).toEqual([
        ...Array.from({ length: 2 }, () => "POST /v1/sessions"),
        ...Array.from({ length: 3 }, () => `POST ${messages}`),
        ...Array.from({ length: 3 }, () => `POST ${results}`),
        ...Array.from({ length: 4 }, () => `GET ${messages}`),
      ]);
      const resumed = (proxy?.passed ?? [])
        .filter(({ name }) => name === `POST ${results}`)
        .map(({ headers }) => Number(headers["last-event-id"] ?? 0));
      expect(resumed[0]).toBe(0);
      expect(resumed[1]).toBeGreaterThan(0);
      expect(resumed[2]).toBeGreaterThan(resumed[1] ?? 0);
      const { data } = z.object({ data: z.array(z.unknown()) }).parse(await callApi(connection, { method: "GET", path: "/v1/sessions" }));
      expect(data).toHaveLength(1);
    },
    MINUTES,
  );
});
