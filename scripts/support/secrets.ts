/** The local server's secrets, in Wrangler's `.dev.vars` format. */
import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { Failure } from "./output.ts";

const NEW_KEY_ID = "dev1";

/** Writes random secrets to `path` unless the file exists, so that a person's own file is never changed. */
export function ensureSecrets(path: string): void {
  if (existsSync(path)) return;
  const secret = (): string => randomBytes(32).toString("base64url");
  const lines = [
    "# Made by npm start for local development; yours to edit. KEY_PEPPER: changing it makes every key void.",
    `KEY_PEPPER=${secret()}`,
    `ADMIN_KEY=${secret()}`,
    "# Seals tenants' credentials: id:base64 of 32 bytes, the current key first. A key that is taken away voids what it sealed.",
    `CREDENTIALS_KEYS=${NEW_KEY_ID}:${randomBytes(32).toString("base64")}`,
    "# The keys of this server say that they are not production's.",
    "ENVIRONMENT=dev",
    "# Let a tenant's models and tools be at http://localhost, as test providers are. Never set them in production.",
    "ALLOW_PRIVATE_MODEL_URLS=true",
    "ALLOW_PRIVATE_TOOL_URLS=true",
    "",
  ];
  writeFileSync(path, lines.join("\n"), { mode: 0o600, flag: "wx" });
}

/** Adds variables to the same file. Throws a `Failure`, without the value, if the format cannot represent it. */
export function appendSecrets(path: string, variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value = ""] of Object.entries(variables)) {
    // Between single quotes every character stands for itself.
    if (/['\r\n]/.test(value)) throw new Failure(`${name} holds a quote or a line break, which a file of secrets cannot hold.`);
    appendFileSync(path, `${name}='${value}'\n`);
  }
}

export const readSecrets = (path: string): Readonly<Record<string, string | undefined>> => parseEnv(readFileSync(path, "utf8"));

/** Throws a `Failure` that names the file when it contains no ADMIN_KEY. */
export function readAdminKey(path: string): string {
  const key = readSecrets(path).ADMIN_KEY;
  if (!key)
    throw new Failure(`${path} has no ADMIN_KEY, which is needed to create the development tenant: add one of at least 16 characters.`);
  return key;
}
