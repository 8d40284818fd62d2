/**
 * Replaces ajv and ajv-formats in the bundle (`[alias]` in wrangler.toml). The MCP SDK's client imports them for its
 * default validator. Our client passes its own validator (`src/tools/mcp-client`), and ajv compiles with `new
 * Function`, which workerd refuses.
 */
export default class NoAjv {
  constructor() {
    throw new Error("This build has no ajv: give the MCP client a validator.");
  }
}
