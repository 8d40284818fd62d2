/** The tools that a tenant registered for its models: HTTP tools, and MCP servers with their last fetched listing. */
import type { TenantError } from "../../app/tenant-api";
import type { McpListing, McpServerEntry } from "../../app/tool-entry";
import type { HttpTool, HttpToolEntry, McpServer, SecretHeader } from "../../contract/registered-tool";
import { err, ok, type Result } from "../../lib/result";
import type { SqlValue } from "../../lib/sql-row";
import type { SyncSql } from "../../lib/sync-sql";
import type { KnownCredentials } from "./registry";

/** As many as one session can offer. */
export const MAX_TOOLS = 128;
/** All servers are one answer, with their listings. */
export const MAX_MCP_SERVERS = 16;

export interface PutMcpServer {
  readonly name: string;
  readonly server: McpServer;
  readonly listing: McpListing;
  /** The server's `updated_at` that the caller has read; the write is skipped when it has changed. Absent: write in any case. */
  readonly unchanged?: number;
}

export interface ToolRegistry {
  /** The tools of these names. Null: all. */
  tools(names: readonly string[] | null): readonly HttpToolEntry[];
  /** Registers a tool. The limit on their number never refuses the replacement of an existing one. */
  putTool(name: string, tool: HttpTool, at: number): Result<HttpToolEntry, TenantError>;
  removeTool(name: string): Result<null, TenantError>;
  servers(names: readonly string[] | null): readonly McpServerEntry[];
  putServer(input: PutMcpServer, at: number): Result<McpServerEntry, TenantError>;
  removeServer(name: string): Result<null, TenantError>;
}

type ToolRow = {
  readonly name: string;
  readonly said: string;
  readonly created_at: number;
  readonly updated_at: number;
};
type ServerRow = ToolRow & { readonly listing: string; readonly listed_at: number };

export function createToolRegistry(sql: SyncSql, credentials: KnownCredentials): ToolRegistry {
  const isMissing = (header: SecretHeader | null): boolean => header !== null && !credentials.has(header.credential);

  // Only this file writes the two JSON columns, from values of these types.
  function toTool({ said, ...row }: ToolRow): HttpToolEntry {
    const tool = JSON.parse(said) as HttpTool;
    return { ...tool, ...row, credential_missing: isMissing(tool.secret_header) };
  }
  function toServer({ said, listing, ...row }: ServerRow): McpServerEntry {
    const server = JSON.parse(said) as McpServer;
    return { ...server, ...row, listing: JSON.parse(listing) as McpListing, credential_missing: isMissing(server.secret_header) };
  }
  const tools = (names: readonly string[] | null): readonly HttpToolEntry[] =>
    sql.rows<ToolRow>(`SELECT name, said, created_at, updated_at FROM tools ${WHERE} ORDER BY name`, ...among(names)).map(toTool);
  const servers = (names: readonly string[] | null): readonly McpServerEntry[] =>
    sql
      .rows<ServerRow>(
        `SELECT name, said, listing, listed_at, created_at, updated_at FROM mcp_servers ${WHERE} ORDER BY name`,
        ...among(names),
      )
      .map(toServer);
  const has = (table: Table, name: string): boolean => sql.rows(`SELECT 1 FROM ${table} WHERE name = ?`, name).length > 0;
  const count = (table: Table): number => sql.rows<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)[0]?.n ?? 0;

  function findFault(table: Table, name: string, header: SecretHeader | null): TenantError | null {
    if (isMissing(header)) return { code: "invalid", field: "secret_header.credential", detail: "no such credential" };
    const limit = LIMITS[table];
    return !has(table, name) && count(table) >= limit ? { code: "tool_limit", of: table, limit } : null;
  }
  return {
    tools,
    putTool: (name, tool, at) => {
      const fault = findFault("tools", name, tool.secret_header);
      if (fault) return err(fault);
      sql.rows(
        `INSERT INTO tools (name, said, created_at, updated_at) VALUES (?, ?, ?, ?)
         ON CONFLICT (name) DO UPDATE SET said = excluded.said, updated_at = excluded.updated_at`,
        name,
        JSON.stringify(tool),
        at,
        at,
      );
      return only(tools([name]), { code: "tool_not_found", tool: name });
    },
    removeTool: (name) => {
      const removed = sql.rows("DELETE FROM tools WHERE name = ? RETURNING name", name);
      return removed.length > 0 ? ok(null) : err({ code: "tool_not_found", tool: name });
    },
    servers,
    putServer: ({ name, server, listing, unchanged }, at) => {
      const before = servers([name])[0];
      const gone: TenantError = { code: "mcp_server_not_found", server: name };
      // The server was put or removed while its tools were being listed. The newer change stays.
      if (unchanged !== undefined && before?.updated_at !== unchanged) return before ? ok(before) : err(gone);
      const fault = unchanged === undefined ? findFault("mcp_servers", name, server.secret_header) : null;
      if (fault) return err(fault);
      sql.rows(
        `INSERT INTO mcp_servers (name, said, listing, listed_at, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (name) DO UPDATE SET said = excluded.said, listing = excluded.listing, listed_at = excluded.listed_at,
           updated_at = excluded.updated_at`,
        name,
        JSON.stringify(server),
        JSON.stringify(listing),
        at,
        at,
        unchanged ?? at,
      );
      return only(servers([name]), gone);
    },
    removeServer: (name) => {
      const removed = sql.rows("DELETE FROM mcp_servers WHERE name = ? RETURNING name", name);
      return removed.length > 0 ? ok(null) : err({ code: "mcp_server_not_found", server: name });
    },
  };
}

type Table = "tools" | "mcp_servers";
const LIMITS: Readonly<Record<Table, number>> = { tools: MAX_TOOLS, mcp_servers: MAX_MCP_SERVERS };

/** One parameter carries all names: a statement takes at most 100 parameters. */
const WHERE = "WHERE ?1 IS NULL OR name IN (SELECT value FROM json_each(?1))";
const among = (names: readonly string[] | null): readonly SqlValue[] => [names === null ? null : JSON.stringify(names)];

const only = <T>(found: readonly T[], gone: TenantError): Result<T, TenantError> => (found[0] === undefined ? err(gone) : ok(found[0]));
