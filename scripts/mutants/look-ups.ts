/** Mutants of what an isolate keeps of its tenants, of limits and of acts. */
import type { Mutant } from "./mutant.ts";

export const lookUps: readonly Mutant[] = [
  {
    name: "every caller asks again in the background",
    breaks: "docs/limit-exactness.md: one request or session of many asks again",
    file: "src/app/known-answers.ts",
    find: "  known.refreshAt = now() + RETRY_AFTER_MS;\n",
    replace: "",
    tests: ["test/tenant/look-up-cache.test.ts"],
  },
  {
    name: "an answer in constant use serves for ever",
    breaks: "docs/limit-exactness.md: a caller waits for what the isolate has not used for that time",
    file: "src/tenant/look-ups/look-up-cache.ts",
    find: "if (!last || last.until <= now() || last.generation !== generation(name)) return null;",
    replace: "if (!last || (!background && last.until <= now()) || last.generation !== generation(name)) return null;",
    tests: ["test/tenant/look-up-cache.test.ts"],
  },
  {
    name: "a key in constant use is not asked for again",
    breaks: "docs/limit-exactness.md: one request asks again in the background",
    file: "src/tenant/look-ups/key-cache.ts",
    find: "        refresh(known, { background, now }, () => askNow(hash, owner, { ask, last: true }));\n",
    replace: "",
    tests: ["test/tenant/key-cache.test.ts"],
  },
  {
    name: "a repeated delivery of acts is recorded twice",
    breaks: "I47: each audited act in a session is in the tenant's log once",
    file: "src/audit/audit-log.ts",
    find: "      if (isThere(act, subject)) return;\n",
    replace: "",
    tests: ["test/simulation/limits.test.ts"],
  },
  {
    name: "acts are forgotten before they are delivered",
    breaks: "I47: none is lost",
    file: "src/session/acts.ts",
    find: "    await host.deps.acts(tenant).record(session, acts);\n    if (host.exists) forgetActs(host.deps.sql, last.seq);",
    replace: "    forgetActs(host.deps.sql, last.seq);\n    await host.deps.acts(tenant).record(session, acts);",
    tests: ["test/simulation/limits.test.ts"],
  },
  {
    name: "a refused request is served",
    breaks: "I46: a refused request leaves nothing",
    file: "src/http/rate-limits.ts",
    find: "return admission.refused ? sendProblem(c, toRefusal(admission.refused, now)) : await next();",
    replace: "await next();\n    return admission.refused ? sendProblem(c, toRefusal(admission.refused, now)) : undefined;",
    tests: ["test/simulation/limits.test.ts"],
  },
];
