/** Files for the end-to-end tests: small ones that are what they claim to be. */
import type { FileView } from "../../src/contract/file";
import { readBody, type Tenant } from "./support";

const latin1 = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));

/** The head of a PNG and `mark`, by which the bytes are told apart. */
export const png = (mark = ""): Uint8Array => latin1(`\x89PNG\r\n\x1a\n\0\0\0\rIHDR${mark}`);
export const pdf = (pages: number): Uint8Array => latin1(`%PDF-1.4\n<< /Type /Pages >>\n${"<< /Type /Page >>\n".repeat(pages)}`);
export const text = (words: string): Uint8Array => new TextEncoder().encode(words);

export const send = (tenant: Tenant, bytes: Uint8Array, { path = "/v1/files", type = "application/octet-stream", key = "" } = {}) =>
  tenant.call("POST", path, bytes, { "content-type": type, ...(key && { "idempotency-key": key }) });

export const upload = async (tenant: Tenant, bytes: Uint8Array, type?: string): Promise<FileView> =>
  readBody<FileView>(await send(tenant, bytes, { path: "/v1/files?name=a%20file", ...(type !== undefined && { type }) }), 201);
