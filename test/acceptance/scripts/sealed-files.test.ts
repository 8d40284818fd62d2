/** A credential on disk, and its re-encryption: a real server, its files as bytes, and the command as a person runs it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { type Connection, callApi } from "../../../scripts/support/api-client";
import { createTenant } from "../../../scripts/support/connection";
import { createSandbox, type Sandbox } from "../../../scripts/support/sandbox";
import { appendSecrets, readSecrets } from "../../../scripts/support/secrets";

const SECRET = "sk-proj-unforgettable-4f1a";
const SECONDS = 60_000;
const ROOT = join(import.meta.dirname, "..", "..", "..");

/** Files of the sandbox that contain it: databases, their write-ahead logs, and the server's output. */
function filesWith(text: string, { state }: Sandbox): string[] {
  const files = readdirSync(dirname(state), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((file) => join(file.parentPath, file.name)).filter((path) => readFileSync(path).includes(text));
}

const put = (connection: Connection, path: string, body: unknown) => callApi(connection, { method: "PUT", path, body });

async function rotate(sandbox: Sandbox, url: string, tenant: string) {
  const args = [join("scripts", "run.mjs"), "rotate-credentials", "--tenant", tenant, "--url", url];
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ADMIN_KEY: sandbox.adminKey },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  const [code] = await once(child, "close");
  return { code, line: out.trimEnd().split("\n").at(-1)?.replace(/ +/g, " ") };
}

/** A new current key. The previous one is kept behind it. */
function addKey(sandbox: Sandbox): void {
  const path = join(dirname(sandbox.state), "secrets.env");
  const { CREDENTIALS_KEYS: before } = readSecrets(path);
  appendSecrets(path, { CREDENTIALS_KEYS: `dev2:${Buffer.alloc(32, 7).toString("base64")},${before}` });
}

test(
  "a credential is in no file of the server, sealed and sealed anew",
  async () => {
    const sandbox = await createSandbox();
    try {
      const first = await sandbox.start();
      const connection = await createTenant(first.url, sandbox.adminKey);
      const tenant = `ten_${connection.key.split("_")[2]}`;
      await put(connection, "/v1/credentials/mine", { api_key: SECRET });
      await put(connection, "/v1/models/m", {
        provider: "openai-compatible",
        base_url: "http://127.0.0.1:1/v1",
        max_output: 10,
        credential: "mine",
      });
      await callApi(connection, { method: "POST", path: "/v1/models/m/probe" }).catch(() => undefined);
      await first.stop();
      addKey(sandbox);
      const second = await sandbox.start();

      const rotated = await rotate(sandbox, second.url, tenant);
      const again = await rotate(sandbox, second.url, tenant);
      const listed = await callApi(connection, { method: "GET", path: "/v1/credentials" });
      await second.stop();

      expect(rotated).toEqual({ code: 0, line: `${tenant} 1 0 1 0 0 dev2` });
      expect(again).toEqual({ code: 0, line: `${tenant} 1 1 0 0 0 dev2` });
      expect(listed).toMatchObject({ data: [{ name: "mine", key_id: "dev2", models: ["m"] }] });
      expect(filesWith("mine", sandbox)).not.toEqual([]);
      for (const form of [SECRET, Buffer.from(SECRET).toString("base64"), SECRET.slice(8)]) expect(filesWith(form, sandbox)).toEqual([]);
    } finally {
      await sandbox.close();
    }
  },
  SECONDS,
);
