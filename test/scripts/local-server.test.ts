/** A start detects that the server will never become ready, from a server that answers as the Worker does. */
import { once } from "node:events";
import { createServer } from "node:http";
import { afterAll, expect, test } from "vitest";
import { ZodError } from "zod";
import { type LocalServer, waitUntilReady } from "../../scripts/support/local-server";
import { type Env, parseConfig } from "../../src/env";
import { answerMisconfigured } from "../../src/http/misconfigured";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const servers: ReturnType<typeof createServer>[] = [];
afterAll(() => servers.map((server) => server.close()));

function readRefusal(env: Partial<Env>): ZodError {
  try {
    parseConfig(env as Env);
  } catch (error) {
    if (error instanceof ZodError) return error;
  }
  throw new Error("the configuration is right");
}

/** A running server whose every response is that of a deployment with this configuration. */
async function misconfigured(env: Partial<Env>): Promise<LocalServer> {
  const body = await answerMisconfigured(readRefusal(env), log).text();
  const server = createServer((_, response) => response.writeHead(500, { "content-type": "application/problem+json" }).end(body));
  servers.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : null;
  const never = new Promise<void>(() => undefined);
  return { url: `http://127.0.0.1:${port}`, log: "", exited: never, stop: () => never, kill: () => never };
}

const PEPPER = "a-pepper-for-tests-only";

test.each([
  ["an unknown policy", { KEY_PEPPER: PEPPER, POLICY: "hunter2" }, /wrong\. POLICY: must be one of oneclaw, /],
  ["a secret that is missing", {}, /wrong\. KEY_PEPPER: /],
  ["models that are no JSON", { KEY_PEPPER: PEPPER, MODELS: "hunter2" }, /wrong\. MODELS is not JSON/],
])("a wrong configuration ends the wait at once, with the variable's name and never its value: %s", async (_, env, said) => {
  const failure = await waitUntilReady(await misconfigured(env)).catch((error: unknown) => String(error));
  expect(failure).toMatch(said);
  expect(failure).not.toContain("hunter2");
});
