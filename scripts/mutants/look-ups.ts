/** Mutants of what an isolate keeps of its tenants. */
import type { Mutant } from "./mutant.ts";

export const lookUps: readonly Mutant[] = [
  {
    name: "every caller asks again in the background",
    breaks: "docs/tenant-limits.md: one request or session of many asks again",
    file: "src/tenant/look-up-cache.ts",
    find: "    last.refreshAt = now() + RETRY_AFTER_MS;\n    background(",
    replace: "    background(",
    tests: ["test/tenant/look-up-cache.test.ts"],
  },
  {
    name: "an answer in constant use serves for ever",
    breaks: "docs/tenant-limits.md: a caller waits for what the isolate has not used for that time",
    file: "src/tenant/look-up-cache.ts",
    find: "if (last && last.until > now() && last.generation === generation(name)) {",
    replace: "if (last && (background || last.until > now()) && last.generation === generation(name)) {",
    tests: ["test/tenant/look-up-cache.test.ts"],
  },
  {
    name: "a key in constant use is not asked for again",
    breaks: "docs/tenant-limits.md: one request asks again in the background",
    file: "src/tenant/key-cache.ts",
    find: "if (background && known.refreshAt <= now()) {",
    replace: "if (background && known.refreshAt < 0) {",
    tests: ["test/tenant/key-cache.test.ts"],
  },
];
