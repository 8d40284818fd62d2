/** Draws requests from the OpenAPI document: valid, nearly valid and hostile ones. */
import { Draw, mixSeed } from "./draw";
import { hostileHeader, hostilePart, spoilText, spoilValue, WRONG_TYPES } from "./hostile";
import type { KnownThings } from "./known-things";
import { type JsonSchema, ValueMaker } from "./values";

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

interface DocumentedOperation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> };
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

export interface FuzzedDocument {
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
}

export interface Operation extends DocumentedOperation {
  /** `POST /v1/sessions` */
  readonly name: string;
  readonly method: string;
  readonly path: string;
}

export interface DrawnRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export const listOperations = ({ paths }: FuzzedDocument): readonly Operation[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      ...operation,
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
    })),
  );

export interface Keys {
  readonly api_key: string;
  readonly admin_key: string;
  readonly access_token: string;
}

interface MakerInput {
  readonly known: KnownThings;
  readonly keys: Keys;
  readonly seed: number;
}

/** What the request is given besides valid values. Most requests have one fault, and some have none. */
const FAULTS = [
  "none",
  "none",
  "none",
  "none",
  "none",
  "value",
  "value",
  "value",
  "value",
  "text",
  "type",
  "query",
  "header",
  "key",
] as const;
type Fault = (typeof FAULTS)[number];

export class RequestMaker {
  readonly #input: MakerInput;
  readonly #values: ValueMaker;

  constructor(input: MakerInput) {
    this.#input = input;
    this.#values = new ValueMaker(input.known);
  }

  /** `secret`: what no answer may repeat. It is the key of a credential, or in a query that no operation takes. */
  make(operation: Operation, nth: number, secret: string): DrawnRequest {
    const draw = new Draw(mixSeed(this.#input.seed, operation.name, nth));
    const fault = draw.pick(FAULTS);
    const headers = { ...this.#key(draw, operation, fault), ...this.#headers(draw, operation, fault) };
    const path = this.#path(draw, operation) + this.#query(draw, operation, { fault, secret });
    const body = this.#body(draw, operation, { fault, secret });
    return { method: operation.method, path, ...body, headers: { ...headers, ...body?.headers } };
  }

  #key(draw: Draw, { security = [] }: Operation, fault: Fault): Readonly<Record<string, string>> {
    const { keys } = this.#input;
    const scheme = Object.keys(draw.pickAny(security) ?? { api_key: [] })[0] ?? "api_key";
    const right = scheme === "admin_key" ? keys.admin_key : scheme === "access_token" ? keys.access_token : keys.api_key;
    const wrong = [keys.api_key, keys.admin_key, keys.access_token, "lh_test_of_nobody", "", "x".repeat(5_000)] as const;
    if (fault === "key" && draw.chance(20)) return {};
    return { authorization: `Bearer ${fault === "key" ? draw.pick(wrong) : right}` };
  }

  #headers(draw: Draw, { parameters = [] }: Operation, fault: Fault): Record<string, string> {
    const chosen = parameters.filter((parameter) => parameter.in === "header" && draw.chance(30));
    const made: Record<string, string> = Object.fromEntries(
      chosen.map(({ name, schema }) => [name, String(this.#values.make(draw, schema, name))]),
    );
    const name = draw.pickAny(parameters.filter((parameter) => parameter.in === "header"))?.name ?? "Accept";
    const accept = draw.chance(15) ? { accept: draw.pick(["text/event-stream", "*/*", "application/json", "image/png", ""]) } : {};
    return { ...accept, ...made, ...(fault === "header" && { [name]: hostileHeader(draw) }) };
  }

  #path(draw: Draw, { path, parameters = [], method }: Operation): string {
    const replaces = (method === "PUT" && path.startsWith("/v1/models/")) || path.startsWith("/v1/keys/");
    // A suspended tenant is as good as none for the requests that follow.
    const removes = method === "DELETE" || replaces || path.endsWith("/suspend");
    return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const schema = parameters.find((parameter) => parameter.in === "path" && parameter.name === name)?.schema ?? {};
      return this.#input.known.pickPart(draw, { name, made: String(this.#values.make(draw, schema, name)), removes });
    });
  }

  #query(draw: Draw, { parameters = [] }: Operation, { fault, secret }: { fault: Fault; secret: string }): string {
    const own = parameters.filter((parameter) => parameter.in === "query");
    const chosen = own.filter(({ required }) => (required ? !(fault === "query" && draw.chance(20)) : draw.chance(30)));
    const pairs = chosen.map(({ name, schema }) => `${name}=${encode(this.#values.make(draw, schema, name))}`);
    if (fault === "query") {
      const name = draw.pickAny(own)?.name ?? "limit";
      pairs.push(
        draw.pick([`unknown=${secret}`, `${name}=${hostilePart(draw)}`, `${pairs[0] ?? "limit=1"}`, `${name}=`, "&&=&", "__proto__=1"]),
      );
    }
    return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
  }

  #body(draw: Draw, { requestBody }: Operation, { fault, secret }: { fault: Fault; secret: string }) {
    const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
    if (type === undefined || !media || (!requestBody?.required && draw.chance(20))) return undefined;
    const headers = { "content-type": fault === "type" ? draw.pick(WRONG_TYPES) : type };
    if (type !== "application/json") return { headers, body: new TextEncoder().encode(draw.pick(["A text", "", "\u0000", "%PDF-1.4 %"])) };
    const valid = fillSecret(this.#values.make(draw, media.schema), secret);
    const json = JSON.stringify(fault === "value" ? spoilValue(draw, valid) : valid) ?? "";
    return { headers, body: fault === "text" ? spoilText(draw, json) : new TextEncoder().encode(json) };
  }
}

const encode = (value: unknown): string =>
  encodeURIComponent((typeof value === "object" ? JSON.stringify(value) : String(value)).toWellFormed());

/** The value with the secret in the one field for secrets. */
const fillSecret = (value: unknown, secret: string): unknown =>
  typeof value === "object" && value !== null && "api_key" in value ? { ...value, api_key: secret } : value;

/** A line that repeats the request. A body that is not text is in base64. A long one is cut: its seed and number draw it again. */
export function printRequest({ method, path, headers, body }: DrawnRequest): string {
  const shown = body && (body.length > 4_000 ? `${body.length} bytes, from ${showBytes(body.slice(0, 1_000))}` : showBytes(body));
  return `${method} ${path} ${JSON.stringify(headers)}${shown === undefined ? "" : ` ${shown}`}`;
}

function showBytes(bytes: Uint8Array): string {
  const text = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes);
  const isText = new TextEncoder().encode(text).length === bytes.length && !text.includes("\ufffd");
  return isText ? text : `base64 ${btoa(String.fromCharCode(...bytes))}`;
}
