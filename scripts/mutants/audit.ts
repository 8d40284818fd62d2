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
    find: "moveAnchor(toPlace(last));",
    replace: "",
    tests: ["test/tenant/audit-log.test.ts"],
  },
  {
    name: "an act in a session is forgotten where the tenant's object is away",
    breaks: "docs/audit.md: where the tenant's object is out of reach, the object's alarm delivers it",
    file: "src/session/acts.ts",
    find: "    await host.deps.acts(tenant).record(session, acts);",
    replace: "    await host.deps.acts(tenant).record(session, acts).catch(() => undefined);",
    tests: ["test/session/acts.test.ts"],
  },
  {
    name: "a session is emptied before its acts were delivered",
    breaks: "docs/audit.md: a session is emptied only after its acts were delivered",
    file: "src/session/erasure.ts",
    find: "    if (!isPurged()) await deliverActs(host, caller);\n",
    replace: "",
    tests: ["test/session/acts.test.ts"],
  },
  {
    name: "what an admin did to a tenant is forgotten where the deployment's object is away",
    breaks: "docs/deployment-audit.md: the alarm of the tenant's object delivers the note",
    file: "src/tenant/core/admin-acts.ts",
    find: "        await record(tenant(), acts);",
    replace: "        await record(tenant(), acts).catch(() => undefined);",
    tests: ["test/tenant/admin-acts.test.ts"],
  },
  {
    name: "a tenant's act that is delivered twice makes two entries in the deployment's log",
    breaks: "docs/deployment-audit.md: a note that is delivered twice makes one entry",
    file: "src/deployment/deployment-calls.ts",
    find: "audit.append({ actor, request_id, nonce: ",
    replace: "audit.append({ actor, request_id, nonce: Math.random() + ",
    tests: ["test/deployment/audit.test.ts"],
  },
  {
    name: "the deployment's log has names that a tenant chose",
    breaks: "docs/deployment-audit.md: the entries hold the tenant's id and no name that it chose",
    file: "src/app/audit-chain.ts",
    find: "GENERATED_TARGETS.includes(target.type) && {",
    replace: "{",
    tests: ["test/tenant/admin-acts.test.ts"],
  },
  {
    name: "a plan that says the same already makes an entry",
    breaks: "docs/deployment-audit.md: what changed nothing leaves none",
    file: "src/deployment/audited-calls.ts",
    find: "version === known ? null : ",
    replace: "",
    tests: ["test/deployment/audit.test.ts"],
  },
];
