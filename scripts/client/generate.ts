/**
 * Generates the client's types with openapi-typescript, and the few facts of operations that its code needs while it runs. The types
 * are of what a client handles: refusals, which it throws, and examples are left out.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { ROOT } from "../support/paths.ts";

/** The generator is installed for the package of the client only, with the TypeScript that it needs. */
const FROM_CLIENT = createRequire(join(ROOT, "packages", "client", "package.json"));

interface Generator {
  default(document: unknown, options: Readonly<Record<string, boolean>>): Promise<unknown>;
  astToString(nodes: unknown): string;
}

const content = z.record(z.string(), z.looseObject({ schema: z.unknown() }));
const operation = z.looseObject({
  parameters: z.array(z.looseObject({ name: z.string(), in: z.string() })).optional(),
  responses: z.record(z.string(), z.looseObject({ content: content.optional() })),
});
const openApi = z.looseObject({
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
  paths: z.record(z.string(), z.record(z.string(), operation)),
});
type OpenApi = z.infer<typeof openApi>;
type Operation = z.infer<typeof operation>;

/** `discriminator` only repeats the constant that each frame's `type` is. */
const LEFT_OUT = new Set(["example", "examples", "discriminator"]);

const HEADER = `/**
 * Generated from the OpenAPI document by \`npm run client\`. Do not edit: \`npm run check\` compares it with the document.
 */
`;

/** File names in packages/client/src, with their text. */
export async function generateClient(text: string): Promise<Readonly<Record<string, string>>> {
  const document = openApi.parse(JSON.parse(text));
  return { "generated.ts": await generateTypes(document), "operations.ts": listOperations(document) };
}

async function generateTypes(document: OpenApi): Promise<string> {
  const { default: generate, astToString } = (await import(
    pathToFileURL(FROM_CLIENT.resolve("openapi-typescript")).href.replace(/index\.cjs$/, "index.mjs")
  )) as Generator;
  const options = { defaultNonNullable: false, rootTypes: true, rootTypesNoSchemaPrefix: true, silent: true };
  return HEADER + astToString(await generate(keepUsed(document), options));
}

function keepUsed(document: OpenApi): unknown {
  const paths = Object.entries(document.paths).map(([path, operations]) => [path, mapValues(operations, keepSuccesses)]);
  const { schemas, parameters } = document.components;
  const kept = { openapi: document.openapi, info: document.info, components: { schemas, parameters }, paths: Object.fromEntries(paths) };
  return dropExamples(kept, false);
}

function keepSuccesses(of: Operation): Operation {
  const successes = Object.entries(of.responses).filter(([status]) => status.startsWith("2"));
  return { ...of, responses: Object.fromEntries(successes.map(([status, { headers, ...rest }]) => [status, rest])) };
}

/** In `properties`, a name of the set is a field of the API and stays. */
function dropExamples(value: unknown, isNames: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => dropExamples(each, false));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => isNames || !LEFT_OUT.has(name));
  return Object.fromEntries(kept.map(([name, each]) => [name, dropExamples(each, name === "properties" && !isNames)]));
}

const mapValues = <T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));

/** What the code of the client needs to know of operations while it runs: types are gone by then. */
function listOperations(document: OpenApi): string {
  const find = (method: string) =>
    Object.entries(document.paths).flatMap(([path, { [method]: operation }]) => (operation ? [{ path, operation }] : []));
  const posts = find("post");
  const takes = (name: string) =>
    posts.filter((each) => each.operation.parameters?.some((header) => header.in === "header" && header.name === name));
  const lists = posts.filter((each) => isPage(document, each.operation));
  const bytes = find("get").filter((each) => Object.keys(each.operation.responses[200]?.content ?? {}).some((type) => !READABLE.has(type)));
  return [
    HEADER,
    write("TAKES_KEY", "POSTs that take an `Idempotency-Key`.", takes("Idempotency-Key")),
    write("RUNS_TURN", "POSTs that are answered when a turn has ended.", takes("Prefer")),
    write("LISTED_BY_POST", "Lists that are asked for by POST, with the cursor in the body.", lists),
    write(
      "DELETED_WITHOUT_BODY",
      "DELETEs that are answered by a status alone.",
      find("delete").filter(({ operation: { responses } }) =>
        Object.keys(responses).every((status) => status === "204" || !status.startsWith("2")),
      ),
    ),
    write("ANSWERED_WITH_BYTES", "GETs whose answer is not JSON.", bytes),
  ].join("\n");
}

/** JSON, and what is answered in its place only where a request names it. */
const READABLE = new Set(["application/json", "text/event-stream", "text/csv", "application/x-ndjson"]);

const write = (name: string, meaning: string, entries: readonly { readonly path: string }[]): string =>
  `/** ${meaning} */\nexport const ${name}: readonly string[] = [\n${entries.map(({ path }) => `  ${JSON.stringify(path)},\n`).join("")}];\n`;

const page = z.looseObject({ properties: z.looseObject({ has_more: z.unknown(), data: z.unknown(), next_cursor: z.unknown() }) });

function isPage(document: OpenApi, { responses }: Operation): boolean {
  const schema = z.looseObject({ $ref: z.string().optional() }).safeParse(responses[200]?.content?.["application/json"]?.schema);
  if (!schema.success) return false;
  const name = schema.data.$ref?.split("/").at(-1);
  const { data, success } = page.safeParse(name === undefined ? schema.data : document.components.schemas[name]);
  return success && "has_more" in data.properties;
}
