/**
 * Signed addresses of files: who has one reads that one file until the address expires. The signature is an HMAC under
 * one of the deployment's peppers with a label of its own, so that it can never be taken for a key's hash or checksum.
 */

import type { FileGrant, FileSigner } from "../app/file-api";
import { parseId } from "../domain/ids";
import { toHex } from "../lib/hex";
import { memoize } from "../lib/memoize";
import { openUnder, type Peppers } from "../lib/peppers";

const LABEL = "longhand/file-url/1";
const MAX_LENGTH = 200;
const FORM = /^([0-9A-Z]{26})\.([0-9A-Z]{26})\.(\d{1,15})\.([0-9a-f]{64})$/;
const HMAC = { name: "HMAC", hash: "SHA-256" };
const utf8 = new TextEncoder();

const importKey = memoize((pepper: string) => crypto.subtle.importKey("raw", utf8.encode(pepper), HMAC, false, ["sign", "verify"]));

const toPayload = ({ tenant, file, expires_at }: FileGrant): string => `${tenant.slice(4)}.${file.slice(4)}.${expires_at}`;
const toMessage = (payload: string): Uint8Array => utf8.encode(`${LABEL}\n${payload}`);
const fromHex = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

export function createFileSigner(peppers: Peppers, now: () => number): FileSigner {
  return {
    sign: async (grant) => {
      const payload = toPayload(grant);
      return `${payload}.${toHex(new Uint8Array(await crypto.subtle.sign("HMAC", await importKey(peppers.current), toMessage(payload))))}`;
    },
    verify: async (signature) => {
      const [, ten = "", fil = "", expires = "", mac = ""] = signature.length > MAX_LENGTH ? [] : (FORM.exec(signature) ?? []);
      const [tenant, file, expires_at] = [parseId("ten", `ten_${ten}`), parseId("fil", `fil_${fil}`), Number(expires)];
      if (!tenant || !file || expires_at <= now()) return null;
      const message = toMessage(`${ten}.${fil}.${expires}`);
      return openUnder(peppers, now(), async (pepper) => {
        const isGenuine = await crypto.subtle.verify("HMAC", await importKey(pepper), fromHex(mac), message);
        return isGenuine ? { tenant, file, expires_at } : null;
      });
    },
  };
}
