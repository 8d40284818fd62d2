/** Checks responses against the published OpenAPI document: route, status, content type, headers, and the body by its schema. */
import { DocumentSchemas } from "./document-schemas";

interface Media {
  readonly schema: object;
  readonly examples?: Readonly<Record<string, unknown>>;
}
interface DocumentedResponse {
  readonly content?: Readonly<Record<string, Media>>;
  readonly headers?: Readonly<Record<string, unknown>>;
}
interface Reference {
  readonly $ref: string;
}
interface Operation {
  readonly responses: Readonly<Record<string, DocumentedResponse | Reference>>;
}

export interface Document {
  readonly components: { readonly responses?: Readonly<Record<string, DocumentedResponse>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

export interface Answer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The Content-Type header. */
  readonly type: string;
  /** The names of its headers. */
  readonly headers: readonly string[];
  /** Null when it is not JSON, or has not been read. */
  readonly body: unknown;
}

interface Route {
  readonly name: string;
  readonly pattern: RegExp;
  readonly operation: Operation;
}

/** Where two paths match, a word goes before a parameter. In ASCII a brace comes after every letter. */
const byLiterals = (one: Route, other: Route): number => (one.name < other.name ? -1 : 1);

const literal = (text: string): string => text.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`);

const PROBLEM = "application/problem+json";
const PREFIX = "urn:longhand:problem:";

/** What a refusal's `type` names. Null for any other answer, and for one without a body. */
function readReason({ status, body }: Answer): string | null {
  const type = status >= 400 && typeof body === "object" && body !== null && "type" in body ? String(body.type) : "";
  return type.startsWith(PREFIX) ? type.slice(PREFIX.length) : null;
}

/** The headers with a meaning for clients of this API. An answer that has one must be documented with it. */
const TOLD = ["etag", "location", "retry-after", "www-authenticate", "allow", "idempotent-replayed", "preference-applied"];

function headerFaults({ headers }: Answer, { headers: documented = {} }: DocumentedResponse): string[] {
  const known = Object.keys(documented).map((name) => name.toLowerCase());
  return headers.filter((name) => TOLD.includes(name) && !known.includes(name)).map((name) => `the header ${name} is not documented`);
}

export class DocumentedAnswers {
  readonly #seen = new Set<string>();
  readonly #components: Document["components"];
  readonly #routes: readonly Route[];
  readonly #schemas: DocumentSchemas;

  constructor(document: Document) {
    this.#components = document.components;
    this.#schemas = new DocumentSchemas(document.components);
    this.#routes = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({
        name: `${method.toUpperCase()} ${path}`,
        pattern: new RegExp(`^${literal(path).replaceAll(/\{\w+\}/g, "[^/]+")}$`),
        operation,
      })),
    );
  }

  /** Every documented answer, in the form of `takeSeen`. */
  get all(): readonly string[] {
    return this.#routes.flatMap(({ name, operation }) =>
      Object.entries(operation.responses).flatMap(([status, response]) => {
        const reasons = Object.keys(this.#resolve(response)?.content?.[PROBLEM]?.examples ?? {});
        return reasons.length === 0 ? [`${name} ${status}`] : reasons.map((reason) => `${name} ${status} ${reason}`);
      }),
    );
  }

  /**
   * The answers that were checked against the document since the last call: `GET /v1/models 200`, and refusals with their reason:
   * `GET /v1/models 401 unauthorized`.
   */
  takeSeen(): readonly string[] {
    const seen = [...this.#seen];
    this.#seen.clear();
    return seen;
  }

  /** The differences between the response and the document. Empty: none. */
  findFaults(answer: Answer): readonly string[] {
    const method = answer.method === "HEAD" ? "GET" : answer.method;
    const candidates = this.#routes.filter(({ name, pattern }) => name.startsWith(`${method} `) && pattern.test(answer.path));
    const [route] = candidates.sort(byLiterals);
    if (!route) return answer.status < 400 ? [`${method} ${answer.path} is not documented`] : [];
    const name = `${route.name} ${answer.status}`;
    const response = this.#resolve(route.operation.responses[String(answer.status)]);
    if (!response) return [`${name}: the status is not documented (${readReason(answer)})`];
    const found = [...this.#contentFaults(answer, response.content ?? {}), ...headerFaults(answer, response)];
    const faults = found.map((fault) => `${name}: ${fault} (${readReason(answer)})`);
    if (faults.length === 0) this.#seen.add([name, readReason(answer)].filter((part) => part !== null).join(" "));
    return faults;
  }

  #contentFaults({ method, type, body }: Answer, content: Readonly<Record<string, Media>>): string[] {
    const [media = ""] = type.split(";");
    if (Object.keys(content).length === 0) return type === "" ? [] : [`a body of type ${media} is not documented`];
    const documented = content[media.trim()];
    if (!documented) return [`the content type ${JSON.stringify(media)} is not documented`];
    if (method === "HEAD" || body === null || !media.endsWith("json")) return [];
    const faults = this.#schemas.findFaults(documented.schema, body);
    return faults.slice(-3).map(({ instanceLocation, error }) => `${instanceLocation} ${error}`);
  }

  #resolve(response: DocumentedResponse | Reference | undefined): DocumentedResponse | undefined {
    if (!response || !("$ref" in response)) return response;
    return this.#components.responses?.[response.$ref.replace("#/components/responses/", "")];
  }
}

/** The response with its body read from a copy, if it is JSON. */
export async function toAnswer(method: string, url: string, response: Response): Promise<Answer> {
  const type = response.headers.get("content-type") ?? "";
  const { pathname } = new URL(url, "https://longhand.test");
  const isJson = /^application\/(?:problem\+)?json\b/.test(type) && method !== "HEAD";
  const text = isJson ? await response.clone().text() : "";
  const headers = [...response.headers.keys()];
  return { method, path: pathname, status: response.status, type, headers, body: text === "" ? null : JSON.parse(text) };
}
