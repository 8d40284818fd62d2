import { describe, expect, it } from "vitest";
import type { BranchView } from "../../src/contract/branch";
import type { CredentialView } from "../../src/contract/credential";
import type { HttpToolEntry } from "../../src/contract/registered-tool";
import type { KeyView } from "../../src/contract/tenant";
import { ok } from "../../src/lib/result";
import { keyEntry, makeId, modelEntry, NOW, readProblem, SESSION, type WorldInput, world } from "./support";

interface ListBody {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** The rows arrive in an order of their own: the list sorts them. */
const names = ["delta", "alpha", "echo", "charlie", "bravo"];
const sorted = [...names].sort();
const numbers = [1, 2, 3, 4, 5];

const tool = (name: string): HttpToolEntry => ({
  name,
  description: null,
  parameters: {},
  url: "https://api.example.com",
  method: "POST",
  secret_header: null,
  timeout_ms: 30_000,
  max_bytes: 1_000,
  needs_approval: false,
  files: null,
  created_at: NOW,
  updated_at: NOW,
  credential_missing: false,
});
const server = (name: string) => ({
  name,
  url: "https://mcp.example.com",
  secret_header: null,
  timeout_ms: 30_000,
  needs_approval: false,
  allowed_tools: null,
  listing: { tools: [], skipped: [], truncated: false },
  listed_at: NOW,
  created_at: NOW,
  updated_at: NOW,
  credential_missing: false,
});
const credential = (name: string): CredentialView => ({ name, key_id: "k1", created_at: NOW, updated_at: NOW, models: [] });
const key = (n: number): KeyView => keyEntry({ id: makeId("key", n) });
const branch = (number: number): BranchView => ({
  number,
  parent: null,
  shared_to: 0,
  created_at: NOW,
  left_at: null,
  current: false,
  messages: 0,
  last_position: 0,
});

const input: WorldInput = {
  session: { branches: async () => ok(numbers.map(branch)) },
  tenant: {
    listModels: async () => ok(names.map((id) => modelEntry({ id }))),
    listTools: async () => ok(names.map(tool)),
    listMcpServers: async () => ok(names.map(server)),
    listCredentials: async () => ok(names.map(credential)),
    listKeys: async () => ok(numbers.map(key)),
  },
};

async function read(path: string, query: string, given = input): Promise<ListBody> {
  const response = await world(given).call("GET", `${path}?${query}`);
  expect(response.status).toBe(200);
  return await response.json();
}

/** Reads page after page, and returns the rows' keys. */
async function readAll(path: string, keyed: string, query: string): Promise<unknown[]> {
  const page = await read(path, query);
  const rows = page.data.map((row) => row[keyed]);
  if (page.next_cursor === null) {
    expect(page.has_more).toBe(false);
    return rows;
  }
  expect(page.has_more).toBe(true);
  const after = new URLSearchParams({ after: page.next_cursor });
  return [...rows, ...(await readAll(path, keyed, `${query.replace(/&after=.*/, "")}&${after}`))];
}

const keys = numbers.map((n) => makeId("key", n));
const lists = [
  ["/v1/models", "id", sorted, "asc"],
  ["/v1/tools", "name", sorted, "asc"],
  ["/v1/mcp_servers", "name", sorted, "asc"],
  ["/v1/credentials", "name", sorted, "asc"],
  ["/v1/keys", "id", keys, "desc"],
  [`/v1/sessions/${SESSION}/branches`, "number", numbers, "asc"],
] as const;

describe.each(lists)("%s", (path, keyed, ascending, usual) => {
  const descending = [...ascending].reverse();

  it.each([1, 2, 4, 5, 200])("returns every row once in pages of %i, in either order", async (limit) => {
    expect(await readAll(path, keyed, `limit=${limit}&order=asc`)).toEqual(ascending);
    expect(await readAll(path, keyed, `limit=${limit}&order=desc`)).toEqual(descending);
  });

  it("has an order of its own", async () => {
    const page = await read(path, "");
    expect(page.data.map((row) => row[keyed])).toEqual(usual === "asc" ? ascending : descending);
  });

  it.each([
    ["limit=0", "limit"],
    ["limit=201", "limit"],
    ["limit=x", "limit"],
    ["order=up", "order"],
    ["after=", "after"],
  ])("refuses %s by name", async (query, field) => {
    const response = await world(input).call("GET", `${path}?${query}`);
    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors?.map((error) => error.field)).toEqual([field]);
  });
});

describe("a cursor", () => {
  it("continues after a row that was removed meanwhile", async () => {
    const { next_cursor } = await read("/v1/tools", "limit=2");
    const without = names.filter((name) => name !== next_cursor).map(tool);
    const rest = await read("/v1/tools", `after=${next_cursor}`, { ...input, tenant: { listTools: async () => ok(without) } });

    expect([next_cursor, rest.data.map((row) => row.name)]).toEqual(["bravo", ["charlie", "delta", "echo"]]);
  });

  it("carries a model's id with any character that an id may have", async () => {
    const ids = ["cf/meta/llama-3", "cf:3@1", "gpt-4o", "CF"];
    const given = { tenant: { listModels: async () => ok(ids.map((id) => modelEntry({ id }))) } };
    const first = await read("/v1/models", "limit=1", given);
    const rest = await read("/v1/models", new URLSearchParams({ after: first.next_cursor ?? "" }).toString(), given);

    expect([...first.data, ...rest.data].map((row) => row.id).sort()).toEqual([...ids].sort());
  });
});

describe("/v1/policies", () => {
  it("has pages, in the order of the whole list", async () => {
    const whole = await read("/v1/policies", "");
    const first = await read("/v1/policies", "limit=3");
    const rest = await read("/v1/policies", `after=${first.next_cursor}`);

    expect(first.data).toHaveLength(3);
    expect([...first.data, ...rest.data]).toEqual(whole.data);
  });
});
