/** Mutants of the audit log. */
import type { Mutant } from "./mutant.ts";

export const audit: readonly Mutant[] = [
  {
    name: "a call that is repeated makes a second entry",
    breaks: "docs/audit.md: a call that the service repeats because its answer was lost makes one entry",
    file: "src/audit/audit-log.ts",
    find: "      if (isThere(act, subject)) return;\n",
    replace: "",
    tests: ["test/tenant/audit-log.test.ts"],
  },
  {
    name: "a log that forgets its entries begins anew",
    breaks: "docs/audit.md: the place of the last entry of a deleted tenant stays",
    file: "src/audit/audit-log.ts",
    find: "if (last) removeUpTo(toPlace(last));",
    replace: "",
    tests: ["test/tenant/audit-log.test.ts"],
  },
];
