/** Mutants of a tenant's tools: allowed addresses, what is sent, and what is returned. */
import type { Mutant } from "./mutant.ts";

const SAFE_FETCH = "src/tools/safe-fetch.ts";

export const reach: readonly Mutant[] = [
  {
    name: "one public address of a name is enough",
    breaks: "SECURITY: one address that is not public refuses it",
    file: "src/tools/safe-fetch.ts",
    find: "addresses.value.every(isPublicAddress)",
    replace: "addresses.value.some(isPublicAddress)",
    tests: ["test/tools/safe-fetch.test.ts"],
  },
  {
    name: "a name without an address is called",
    breaks: "SECURITY: half an answer is none",
    file: "src/tools/safe-fetch.ts",
    find: 'return "unreachable";',
    replace: 'return "public";',
    tests: ["test/tools/safe-fetch.test.ts"],
  },
  {
    name: "half of a resolver's answer counts",
    breaks: "SECURITY: half an answer is none",
    file: "src/tools/resolve-name.ts",
    find: "if (!four || !six)",
    replace: "if (!four && !six)",
    tests: ["test/tools/resolve-name.test.ts"],
  },
  {
    name: "what a redirect leads to is not judged",
    breaks: "SECURITY: checked again at each redirect",
    file: SAFE_FETCH,
    find: 'if (verdict !== "public")',
    replace: 'if (verdict !== "public" && left === MAX_REDIRECTS)',
    tests: ["test/tools/safe-fetch.test.ts"],
  },
  {
    name: "a tool's secret goes along to another origin",
    breaks: "SECURITY: the URL's own origin alone is sent it",
    file: SAFE_FETCH,
    find: "hop.isOwn && next.origin === url.origin",
    replace: "hop.isOwn",
    tests: ["test/tools/safe-fetch.test.ts", "test/tools/http-tool.test.ts"],
  },
  {
    name: "a tool's secret is sent on the way within another origin",
    breaks: "SECURITY: once a redirect has left that, nobody",
    file: SAFE_FETCH,
    find: "hop.isOwn && next.origin === url.origin",
    replace: "next.origin === url.origin",
    tests: ["test/tools/safe-fetch.test.ts"],
  },
  {
    name: "a tool's secret that an answer repeats is told",
    breaks: "SECURITY: [secret] stands in its place",
    file: "src/tools/tool-secret.ts",
    find: "  if (!secret || secret.value.length < MIN_HIDDEN) return text;",
    replace: "  if (!secret || secret.value.length >= MIN_HIDDEN) return text;",
    tests: ["test/tools/http-tool.test.ts", "test/tools/mcp.test.ts"],
  },
  {
    name: "an MCP server's redirects lead to other origins",
    breaks: "SECURITY: those of MCP stay within the origin",
    file: "src/tools/mcp-client.ts",
    find: "    redirects: 0,\n",
    replace: "",
    tests: ["test/tools/mcp.test.ts"],
  },
  {
    name: "IPv6 outside of global unicast is public",
    breaks: "SECURITY: of IPv6 global unicast alone",
    file: "src/lib/public-address.ts",
    find: "return head >> 13 !== 1 || special;",
    replace: "return special;",
    tests: ["test/lib/public-address.test.ts"],
  },
  {
    name: "a refresh overwrites a newer entry",
    breaks: "what they did stands",
    file: "src/tenant/tool-registry.ts",
    find: "if (unchanged !== undefined && before?.updated_at !== unchanged)",
    replace: "if (before === undefined && unchanged !== undefined)",
    tests: ["test/tenant/tool-registry.test.ts"],
  },
];
