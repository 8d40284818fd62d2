/** What a documentation page may change in a tenant and has to put back. Sessions, files and logs are no settings. */
import { z } from "zod";
import { type Connection, callApi } from "../../scripts/support/api-client";

const LISTS = ["models", "credentials", "tools", "mcp_servers", "channels", "webhook_endpoints", "keys"];
const entries = z.object({
  data: z.array(z.looseObject({ id: z.string().optional(), name: z.string().optional(), revoked_at: z.number().nullish() })),
});

/** The tenant's own settings, its retention rules, and what each of its lists holds. A revoked key stays listed, and opens nothing. */
export async function readTenantSettings(connection: Connection): Promise<Readonly<Record<string, unknown>>> {
  const read = (name: string) => callApi(connection, { method: "GET", path: `/v1/${name}` });
  const settings: Record<string, unknown> = { tenant: await read("tenant"), retention: await read("retention") };
  for (const name of LISTS) {
    const { data } = entries.parse(await read(name));
    settings[name] = data.filter(({ revoked_at }) => revoked_at == null).map((entry) => entry.id ?? entry.name);
  }
  return settings;
}
