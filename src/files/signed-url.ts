/**
 * Signed addresses of files: who has one reads that one file until the address expires. The signature is an HMAC under
 * one of the deployment's peppers with a label of its own, so that it can never be taken for a key's hash or checksum.
 */

import type { ExportSigner } from "../app/export-api";
import type { FileSigner } from "../app/file-api";
import { type IdKinds, type IdPrefix, parseId, type TenantId } from "../domain/ids";
import { toHex } from "../lib/hex";
import { memoize } from "../lib/memoize";
import { openUnder, type Peppers } from "../lib/peppers";

/** What a signature is for. One for a file never opens an export. */
const LABELS = { fil: "longhand/file-url/1", exp: "longhand/export-url/1" } as const;
const MAX_LENGTH = 200;
const FORM = /^([0-9A-Z]{26})\.([0-9A-Z]{26})\.(\d{1,15})\.([0-9a-f]{64})$/;
const HMAC = { name: "HMAC", hash: "SHA-256" };
const utf8 = new TextEncoder();

const importKey = memoize((pepper: string) => crypto.subtle.importKey("raw", utf8.encode(pepper), HMAC, false, ["sign", "verify"]));

const toMessage = (label: string, payload: string): Uint8Array => utf8.encode(`${label}\n${payload}`);
const fromHex = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

interface Grant<P extends IdPrefix> {
  readonly tenant: TenantId;
  readonly id: IdKinds[P];
  readonly expires_at: number;
}

function createSigner<P extends keyof typeof LABELS>(
  prefix: P,
  { peppers, now }: { readonly peppers: Peppers; readonly now: () => number },
) {
  const label = LABELS[prefix];
  return {
    sign: async ({ tenant, id, expires_at }: Grant<P>): Promise<string> => {
      const payload = `${tenant.slice(4)}.${id.slice(4)}.${expires_at}`;
      const mac = await crypto.subtle.sign("HMAC", await importKey(peppers.current), toMessage(label, payload));
      return `${payload}.${toHex(new Uint8Array(mac))}`;
    },
    verify: async (signature: string): Promise<Grant<P> | null> => {
      const [, ten = "", named = "", expires = "", mac = ""] = signature.length > MAX_LENGTH ? [] : (FORM.exec(signature) ?? []);
      const [tenant, id, expires_at] = [parseId("ten", `ten_${ten}`), parseId(prefix, `${prefix}_${named}`), Number(expires)];
      if (!tenant || !id || expires_at <= now()) return null;
      const message = toMessage(label, `${ten}.${named}.${expires}`);
      return openUnder(peppers, now(), async (pepper) => {
        const isGenuine = await crypto.subtle.verify("HMAC", await importKey(pepper), fromHex(mac), message);
        return isGenuine ? { tenant, id, expires_at } : null;
      });
    },
  };
}

export function createFileSigner(peppers: Peppers, now: () => number): FileSigner {
  const { sign, verify } = createSigner("fil", { peppers, now });
  return {
    sign: ({ file, ...grant }) => sign({ ...grant, id: file }),
    verify: async (signature) => {
      const grant = await verify(signature);
      return grant && { tenant: grant.tenant, file: grant.id, expires_at: grant.expires_at };
    },
  };
}

export function createExportSigner(peppers: Peppers, now: () => number): ExportSigner {
  const { sign, verify } = createSigner("exp", { peppers, now });
  return {
    sign: ({ export: id, ...grant }) => sign({ ...grant, id }),
    verify: async (signature) => {
      const grant = await verify(signature);
      return grant && { tenant: grant.tenant, export: grant.id, expires_at: grant.expires_at };
    },
  };
}
