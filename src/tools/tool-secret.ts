/** A tenant's credential on its way to a tool, and out of everything that comes back. */
import type { SecretHeader } from "../app/tool-entry";
import { err, ok, type Result } from "../lib/result";
import type { Secret } from "./safe-fetch";

/** Opens a credential by its name; null: it is gone or cannot be opened. May throw when the tenant's object is out of reach. */
export type OpenSecret = (credential: string) => Promise<string | null>;

export interface ToolSecret {
  readonly header: Secret;
  /** Without the prefix. */
  readonly value: string;
}

export async function openSecretHeader(header: SecretHeader | null, open: OpenSecret): Promise<Result<ToolSecret | null, "missing">> {
  if (!header) return ok(null);
  const value = await open(header.credential);
  return value === null ? err("missing") : ok({ header: { name: header.name, value: `${header.prefix}${value}` }, value });
}

/** Shorter ones are part of ordinary words. */
const MIN_HIDDEN = 8;

/** A service that repeats the request's headers, as text or as JSON, would otherwise tell the model, and with it the record. */
export function hideSecret(text: string, secret: ToolSecret | null): string {
  if (!secret || secret.value.length < MIN_HIDDEN) return text;
  const asJson = JSON.stringify(secret.value).slice(1, -1);
  return text.replaceAll(secret.value, HIDDEN).replaceAll(asJson, HIDDEN);
}

const HIDDEN = "[secret]";
