/** Mutants of a tenant's tools: allowed addresses, what is sent, and what is returned. */
import type { Mutant } from "./mutant.ts";

const SAFE_FETCH = "src/tools/safe-fetch.ts";

export const reach: readonly Mutant[] = [
  {
    name: "one public address of a name is enough",
    breaks: "docs/security.md: one address that is not public refuses the name",
    file: "src/tools/safe-fetch.ts",
    find: "addresses.value.every(isPublicAddress)",
    replace: "addresses.value.some(isPublicAddress)",
    tests: ["test/tools/safe-fetch.test.ts"],
  },
  {
    name: "a name without an address is called",
    breaks: "docs/security.md: half an answer refuses the name",
    file: "src/tools/safe-fetch.ts",
    find: 'return "unreachable";',
    replace: 'return "public";',
    tests: ["test/tools/safe-fetch.test.ts"],
  },
  {
    name: "half of a resolver's answer counts",
    breaks: "docs/security.md: half an answer refuses the name",
    file: "src/tools/resolve-name.ts",
    find: "if (!four || !six)",
    replace: "if (!four && !six)",
    tests: ["test/tools/resolve-name.test.ts"],
  },
  {
    name: "what a redirect leads to is not judged",
    breaks: "docs/security.md: each redirect is checked again",
    file: SAFE_FETCH,
    find: 'if (verdict !== "public")',
    replace: 'if (verdict !== "public" && left === MAX_REDIRECTS)',
    tests: ["test/tools/safe-fetch.test.ts"],
  },
  {
    name: "a tool's secret goes along to another origin",
    breaks: "docs/security.md: only the URL's own origin receives the secret",
    file: SAFE_FETCH,
    find: "hop.isOwn && next.origin === url.origin",
    replace: "hop.isOwn",
    tests: ["test/tools/safe-fetch.test.ts", "test/tools/http-tool.test.ts"],
  },
  {
    name: "a tool's secret is sent on the way within another origin",
    breaks: "docs/security.md: once a redirect has left that origin, no one receives the secret",
    file: SAFE_FETCH,
    find: "hop.isOwn && next.origin === url.origin",
    replace: "next.origin === url.origin",
    tests: ["test/tools/safe-fetch.test.ts"],
  },
  {
    name: "a tool's secret that an answer repeats is told",
    breaks: "docs/security.md: [secret] replaces a secret that an answer repeats",
    file: "src/tools/tool-secret.ts",
    find: "  if (!secret || secret.value.length < MIN_HIDDEN) return text;",
    replace: "  if (!secret || secret.value.length >= MIN_HIDDEN) return text;",
    tests: ["test/tools/http-tool.test.ts", "test/tools/mcp.test.ts"],
  },
  {
    name: "an MCP server's redirects lead to other origins",
    breaks: "docs/security.md: redirects of MCP stay within the origin",
    file: "src/tools/mcp-client.ts",
    find: "    redirects: 0,\n",
    replace: "",
    tests: ["test/tools/mcp.test.ts"],
  },
  {
    name: "IPv6 outside of global unicast is public",
    breaks: "docs/security.md: of IPv6 an address is global unicast",
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
