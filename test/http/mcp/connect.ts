/** The official MCP client, connected to the app in this process. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { KEY, type World, type WorldInput, world } from "../support";

export interface Connected extends World {
  readonly client: Client;
  /** The statuses of all answers, in order. */
  readonly statuses: number[];
}

export async function connect(input: WorldInput = {}, key = KEY): Promise<Connected> {
  const around = world(input);
  const statuses: number[] = [];
  const transport = new StreamableHTTPClientTransport(new URL("http://longhand.test/mcp"), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
    fetch: async (url, init) => {
      const response = await around.app.request(String(url), init);
      statuses.push(response.status);
      return response;
    },
  });
  const client = new Client({ name: "test", version: "1" });
  // The SDK's transport may have an undefined session id, which its own interface does not allow.
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  return { ...around, client, statuses };
}
