/**
 * Takes the place of ajv and ajv-formats in the bundle (`[alias]` in wrangler.toml). The MCP SDK's client imports them for a validator that it
 * makes where it is given none; ours is given one (`src/tools/mcp-client`), and ajv compiles with `new Function`, which workerd refuses.
 */
export default class NoAjv {
  constructor() {
    throw new Error("This build has no ajv: give the MCP client a validator.");
  }
}
