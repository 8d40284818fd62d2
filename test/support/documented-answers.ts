/** Checks responses against the published OpenAPI document: route, status, content type, and the body by its schema. */
import { type Schema, Validator } from "@cfworker/json-schema";

interface DocumentedResponse {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
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
  /** Null when it is not JSON, or has not been read. */
  readonly body: unknown;
}

interface Route {
  readonly name: string;
  readonly pattern: RegExp;
  readonly operation: Operation;
}

const literal = (text: string): string => text.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`);

export class DocumentedAnswers {
  /** Routes with the statuses whose responses were checked against the document: `GET /v1/models 200`. */
  readonly seen = new Set<string>();
  readonly #components: Document["components"];
  readonly #routes: readonly Route[];
  readonly #validators = new Map<object, Validator>();

  constructor(document: Document) {
    this.#components = document.components;
    this.#routes = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({
        name: `${method.toUpperCase()} ${path}`,
        // One parameter may contain slashes: a model's name.
        pattern: new RegExp(`^${literal(path).replaceAll(/\{(\w+)\}/g, (_, name) => (name === "model_id" ? ".+" : "[^/]+"))}$`),
        operation,
      })),
    );
  }

  /** Every documented success, in the form of `seen`. */
  get successes(): readonly string[] {
    return this.#routes.flatMap(({ name, operation }) =>
      Object.keys(operation.responses)
        .filter((status) => status.startsWith("2"))
        .map((status) => `${name} ${status}`),
    );
  }

  /** The differences between the response and the document. Empty: none. */
  findFaults(answer: Answer): readonly string[] {
    const method = answer.method === "HEAD" ? "GET" : answer.method;
    const candidates = this.#routes.filter(({ name, pattern }) => name.startsWith(`${method} `) && pattern.test(answer.path));
    const route = candidates.find(({ name }) => name === `${method} ${answer.path}`) ?? candidates.at(-1);
    if (!route) return answer.status < 400 ? [`${method} ${answer.path} is not documented`] : [];
    const name = `${route.name} ${answer.status}`;
    const { responses } = route.operation;
    const response = this.#resolve(responses[String(answer.status)] ?? (answer.status >= 400 ? responses.default : undefined));
    if (!response) return [`${name}: the status is not documented`];
    const faults = this.#contentFaults(answer, response.content ?? {}).map((fault) => `${name}: ${fault}`);
    if (faults.length === 0) this.seen.add(name);
    return faults;
  }

  #contentFaults({ method, type, body }: Answer, content: Readonly<Record<string, { readonly schema: object }>>): string[] {
    const [media = ""] = type.split(";");
    if (Object.keys(content).length === 0) return type === "" ? [] : [`a body of type ${media} is not documented`];
    const documented = content[media.trim()];
    if (!documented) return [`the content type ${JSON.stringify(media)} is not documented`];
    if (method === "HEAD" || body === null || !media.endsWith("json")) return [];
    const { valid, errors } = this.#findValidator(documented.schema).validate(body);
    return valid ? [] : errors.slice(-3).map(({ instanceLocation, error }) => `${instanceLocation} ${error}`);
  }

  #resolve(response: DocumentedResponse | Reference | undefined): DocumentedResponse | undefined {
    if (!response || !("$ref" in response)) return response;
    return this.#components.responses?.[response.$ref.replace("#/components/responses/", "")];
  }

  #findValidator(schema: object): Validator {
    const known = this.#validators.get(schema);
    if (known) return known;
    const made = new Validator({ ...schema, components: this.#components } as Schema, "2020-12", false);
    this.#validators.set(schema, made);
    return made;
  }
}

/** The response with its body read from a copy, if it is JSON. */
export async function toAnswer(method: string, url: string, response: Response): Promise<Answer> {
  const type = response.headers.get("content-type") ?? "";
  const { pathname } = new URL(url, "https://longhand.test");
  const isJson = /^application\/(?:problem\+)?json\b/.test(type) && method !== "HEAD";
  const text = isJson ? await response.clone().text() : "";
  return { method, path: pathname, status: response.status, type, body: text === "" ? null : JSON.parse(text) };
}
