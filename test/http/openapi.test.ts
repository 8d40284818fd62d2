import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { DocumentSchemas } from "../support/document-schemas";
import { listRoutes, world } from "./support";

interface Media {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref: string }>>;
}
interface Content {
  readonly content?: Readonly<Record<string, Media>>;
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly description?: string }[];
  readonly responses: Readonly<Record<string, Content>>;
  readonly requestBody?: Content;
}
interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly tags: readonly { readonly name: string }[];
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>;
    readonly responses: Readonly<Record<string, Content>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
}

const { app } = world();
const response = await app.request("/openapi.json");
const document: Document = await response.json();
const schemas = new DocumentSchemas(document.components);
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, path, operation] as const),
);

/** A path without the names of its parameters; `S` and `W` are the API page's short forms. */
const unname = (path: string): string =>
  path
    .replace(/^S(?=$|\/)/, "/v1/sessions/:id")
    .replace(/^W(?=$|\/)/, "/v1/webhook_endpoints")
    .replace(/\{[a-z_]+\}|:[a-z_]+/g, ":");

function listRefs(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => (key === "$ref" && typeof child === "string" ? [child] : listRefs(child)));
}

/** The names of the fields that hold one tenant's id. */
function listTenantIds(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => {
    const { type, pattern } = z.looseObject({ type: z.unknown(), pattern: z.string().optional() }).safeParse(child).data ?? {};
    const holds = pattern?.startsWith("^ten_") || (/^tenant(_id)?$/.test(key) && type === "string");
    return holds && key !== "items" ? [key] : listTenantIds(child);
  });
}

const readExample = ({ $ref }: { readonly $ref: string }): unknown =>
  document.components.examples[$ref.replace("#/components/examples/", "")]?.value;

function findExampleFaults({ schema, example, examples = {} }: Media): string[] {
  const shown = [...(example === undefined ? [] : [example]), ...Object.values(examples).map(readExample)];
  if (shown.length === 0) return ["there is no example"];
  const faults = shown.flatMap((each) => schemas.findFaults(schema, each).slice(-3));
  return faults.map(({ instanceLocation, error }) => `${instanceLocation} ${error}`);
}

describe("the OpenAPI document", () => {
  it("is OpenAPI 3.1", () => {
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(document.openapi).toBe("3.1.0");
  });

  it("has every route, and no other", () => {
    const routes = listRoutes(app).map(({ method, path }) => `${method} ${path.replace(/:([a-z_]+)/g, "{$1}")}`);

    expect(operations.map(([name]) => name).sort()).toEqual([...routes].sort());
  });

  it("is listed in full by the API page, and by the operator's for admins", () => {
    const table = ["docs/routes.md", "docs/operator-routes.md"]
      .map((page) => readFileSync(page, "utf8").split("## All routes")[1])
      .join("\n");
    const listed = [...table.matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\S+)`/g)].map(([, method, path = ""]) => `${method} ${unname(path)}`);

    expect(listed.sort()).toEqual(operations.map(([name]) => unname(name)).sort());
  });

  it("allows null beside a referenced schema, and not inside of allOf, where the reference refuses it", () => {
    expect(JSON.stringify(document)).not.toMatch(/"allOf":\[\{"\$ref":"[^"]*"\},\{"type":\["\w+","null"\]\}\]/);
  });

  it("refers to nothing that it does not hold", () => {
    const known = (["schemas", "responses", "examples"] as const).flatMap((kind) =>
      Object.keys(document.components[kind]).map((name) => `#/components/${kind}/${name}`),
    );

    expect(known).toEqual(expect.arrayContaining([...new Set(listRefs(document))]));
  });

  it.each(operations)("says of %s what it is, its path's parameters and its answers", (_, path, operation) => {
    const named = [...path.matchAll(/{([a-z_]+)}/g)].map(([, name]) => name);
    const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === "path").map(({ name }) => name);

    expect(declared).toEqual(named);
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(["400", "500"]));
    expect(Object.keys(operation.responses).filter((status) => !/^[2345]\d\d$/.test(status))).toEqual([]);
    expect(Object.keys(operation.responses).filter((status) => /^2\d\d$/.test(status))).not.toEqual([]);
  });

  it("gives every operation its own name, a short summary, whole sentences and a known tag", () => {
    const names = operations.map(([, , { operationId }]) => operationId);
    const known = document.tags.map(({ name }) => name);

    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(names.filter((name) => !/^[a-z]+([A-Z][a-z]+)*$/.test(name))).toEqual([]);
    for (const [name, , { summary, description, tags }] of operations) {
      expect([name, summary]).toEqual([name, expect.stringMatching(/^[A-Z].{3,60}[^.]$/)]);
      expect([name, description]).toEqual([name, expect.stringMatching(/^[A-Z`].*\.$/s)]);
      expect(known).toEqual(expect.arrayContaining([...tags]));
    }
    expect([...new Set(operations.flatMap(([, , { tags }]) => tags))].sort()).toEqual([...known].sort());
  });

  it.each(operations)("shows of %s an example of each JSON body, as its schema says", (_, __, { requestBody, responses }) => {
    const contents = [requestBody, ...Object.values(responses)].flatMap((content) => Object.entries(content?.content ?? {}));
    const bodies = contents.filter(([type]) => type.endsWith("json")).map(([, media]) => media);

    expect(bodies.flatMap(findExampleFaults)).toEqual([]);
  });

  it("shows an example of each refusal, as its schema says", () => {
    const bodies = Object.values(document.components.responses).flatMap(({ content = {} }) => Object.values(content));

    expect(bodies.length).toBeGreaterThan(5);
    expect(bodies.flatMap(findExampleFaults)).toEqual([]);
  });

  it("says what becomes of a tenant's idempotency key, which makes no second one", () => {
    const { parameters = [] } = document.paths["/v1/admin/tenants"]?.post ?? {};
    expect(parameters.find(({ name }) => name === "Idempotency-Key")?.description).toContain("409 tenant_exists");
  });

  it("names the kinds of credentials", () => {
    expect(Object.keys(document.components.securitySchemes).sort()).toEqual(["access_token", "admin_key", "api_key", "stream_token"]);
  });

  it("has patterns without the flags of the code that made them, which would match nothing", () => {
    const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(([, text = ""]) =>
      String(JSON.parse(text)),
    );

    expect(patterns.length).toBeGreaterThan(100);
    expect(patterns.filter((pattern) => /\/[a-z]+$/.test(pattern))).toEqual([]);
  });

  it("calls a tenant's id `id` in the tenant itself, and `tenant_id` in everything else", () => {
    const named = [
      ...Object.entries(document.components.schemas),
      ...operations.map(([name, , { responses }]) => [name, responses] as const),
    ];
    const found = named.flatMap(([name, schema]) => listTenantIds(schema).map((field) => `${name}: ${field}`));

    expect(found.toSorted()).toEqual([
      ...["ListedTenant: id", "POST /v1/admin/tenants: id", "Placement: tenant_id", "SessionOpenedEvent: tenant_id", "Tenant: id"],
      ...["TenantExport: id", "TenantRebuildReport: tenant_id", "TenantStanding: id"],
    ]);
  });

  it("is compressed for clients that accept gzip, and for no other", async () => {
    const read = (encoding: string) => app.request("/openapi.json", { headers: { "accept-encoding": encoding } });
    const [plain, refused, packed] = [await read("identity"), await read("br, gzip;q=0"), await read("br, gzip")];
    const bytes = await packed.arrayBuffer();

    expect([plain, refused].map(({ headers }) => headers.get("content-encoding"))).toEqual([null, null]);
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    expect(packed.headers.get("vary")).toContain("accept-encoding");
    expect(gunzipSync(bytes).toString()).toBe(await plain.text());
    expect(bytes.byteLength * 5).toBeLessThan(JSON.stringify(document).length);
  });

  it("is not sent again to a client that has it", async () => {
    const etag = response.headers.get("etag") ?? "";
    const ask = (known: string) => app.request("/openapi.json", { headers: { "if-none-match": known } });
    const again = await ask(`"other", ${etag}`);

    expect([again.status, again.headers.get("etag"), await again.text()]).toEqual([304, etag, ""]);
    expect((await ask(etag.replace("W/", ""))).status).toBe(304);
    expect((await ask('W/"other"')).status).toBe(200);
    expect((await world().app.request("/openapi.json")).headers.get("etag")).toBe(etag);
  });

  it("needs no key, as the health check", async () => {
    expect(await (await app.request("/healthz")).json()).toEqual({ status: "ok" });
  });
});
