/** The database that an earlier build left in a tenant's object, opened by this build. */
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { SCOPES } from "../../src/domain/scopes";
import { migrateTenant } from "../../src/tenant/core/tenant-schema";
import { createCredentialStore } from "../../src/tenant/credentials/credential-store";
import { createKeys } from "../../src/tenant/keys/keys";
import { buildDeploymentModels, createRegistry } from "../../src/tenant/settings/registry";
import { createToolRegistry } from "../../src/tenant/settings/tool-registry";
import { createDirectory } from "../../src/tenant/shared/directory";
import { createEmptySql, createMigratedSql } from "./memory-sql";
import { makeId } from "./support";

/** The tables that later versions alter. */
const ALTERED = `
  CREATE TABLE tenant (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    default_model TEXT NOT NULL,
    default_policy TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
  INSERT INTO tenant VALUES (1, 'ten_01JD8Z3V6Q4N7R2T5W9X0Y1A01', 'Ada', 'embedded', '', 1);
  CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE sessions (id TEXT PRIMARY KEY, created_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO sessions VALUES ('ses_01K00000000000000000000001', 7);
`;

/** The table of models of version 1, with its possible rows. */
const VERSION_1 = `
  ${ALTERED}
  CREATE TABLE models (
    id TEXT PRIMARY KEY,
    provider TEXT NOT NULL CHECK (provider IN ('embedded', 'openai-compatible')),
    upstream_id TEXT NOT NULL,
    base_url TEXT,
    context_window INTEGER,
    max_output INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE schema_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL) STRICT;
  INSERT INTO schema_version VALUES (1, 1);
  INSERT INTO models VALUES
    ('mine', 'openai-compatible', 'gpt-4o', 'https://llm.example.com/v1', 100000, 2000),
    ('open', 'openai-compatible', 'gpt-4o', 'https://llm.example.com/v1', NULL, 2000),
    ('small', 'embedded', 'small', NULL, 9000, 500);
`;

/** The table of credentials of version 2, with a row. */
const VERSION_2 = `
  ${ALTERED}
  CREATE TABLE credentials (
    name TEXT PRIMARY KEY,
    kid TEXT NOT NULL,
    wrapped_key TEXT NOT NULL,
    sealed TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE schema_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL) STRICT;
  INSERT INTO schema_version VALUES (1, 2);
  INSERT INTO credentials VALUES ('openai', 'k1', 'wrapped', 'sealed', 1, 1);
`;

it("keeps its models with the very limits that they had: a window that was unknown stays so", () => {
  const database = new DatabaseSync(":memory:");
  database.exec(VERSION_1);
  const sql = createEmptySql(database);

  migrateTenant(sql);

  const deploymentKeys = { openai: undefined, anthropic: undefined, google: undefined, "openai-compatible": undefined };
  const registry = createRegistry({ sql, deployment: buildDeploymentModels({}), credentials: createCredentialStore(sql), deploymentKeys });
  const unpriced = () => null;
  expect(registry.list(unpriced).filter(({ source }) => source === "tenant")).toMatchObject([
    { id: "mine", provider: "openai-compatible", base_url: "https://llm.example.com/v1", context_window: 100_000, max_output: 2_000 },
    { id: "open", context_window: null, figures: { context_window: "tenant" } },
    { id: "small", provider: "embedded", base_url: null, context_window: 9_000, max_output: 500 },
  ]);
  expect(registry.put("new", { provider: "anthropic", upstream_id: "claude-opus-5-5", base_url: null }).ok).toBe(true);
});

it("of version 2 keeps its credentials, and has no tools yet", () => {
  const database = new DatabaseSync(":memory:");
  database.exec(VERSION_2);
  const sql = createEmptySql(database);

  migrateTenant(sql);

  const credentials = createCredentialStore(sql);
  const tools = createToolRegistry(sql, credentials);
  expect(credentials.has("openai")).toBe(true);
  expect([tools.tools(null), tools.servers(null)]).toEqual([[], []]);
  const version = "SELECT version FROM schema_version";
  expect(sql.rows(version)).toEqual(createMigratedSql().rows(version));
});

it("keeps its sessions, which have no external id, and one claim each", () => {
  const database = new DatabaseSync(":memory:");
  database.exec(VERSION_2);
  const sql = createEmptySql(database);

  migrateTenant(sql);

  const session = makeId("ses", 1);
  const directory = createDirectory(sql);
  expect(directory.list({ after: null, limit: 2 }).data).toEqual([{ id: session, created_at: 7 }]);
  expect(sql.rows("SELECT external_id, claims FROM sessions")).toMatchObject([{ external_id: null, claims: 1 }]);
  directory.forget(session);
  expect(directory.list({ after: null, limit: 2 }).data).toEqual([]);
});

describe("the scopes of keys that were made when there were five", () => {
  it.each([
    ["sessions:read", ["sessions:read", "files:read", "tools:read", "usage:read"]],
    ["sessions:write", ["sessions:write", "sessions:erase", "files:write"]],
    ["models:write", ["models:write", "credentials:write", "settings:write"]],
    ["tools:write", ["tools:write"]],
    ["keys:write", ["keys:write"]],
    [
      "sessions:read sessions:write models:write tools:write keys:write",
      SCOPES.filter((scope) => !/^(audit|exports|retention|channels|webhooks):/.test(scope)),
    ],
    ["sessions:reader", []],
    ["", []],
  ] as const)("%j can do what it could", (stored, scopes) => {
    const database = new DatabaseSync(":memory:");
    database.exec(VERSION_2);
    const sql = createEmptySql(database);
    sql.rows("INSERT INTO keys (id, hash, name, scopes, created_at) VALUES (?, 'hash', 'old', ?, 1)", makeId("key", 1), stored);

    migrateTenant(sql);

    const principal = createKeys(sql).authenticate({ hash: "hash", tenant: makeId("ten", 1), at: 2 });
    expect(principal?.scopes).toEqual(SCOPES.filter((scope) => (scopes as readonly string[]).includes(scope)));
  });
});
