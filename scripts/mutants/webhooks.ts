/** Mutants of webhooks: what is announced, kept, signed and tried. */
import type { Mutant } from "./mutant.ts";

const SESSION = ["test/session/announcements.test.ts"];
const TENANT = ["test/tenant/webhooks.test.ts"];
const SENDER = ["test/tools/send-webhook.test.ts"];

export const webhooks: readonly Mutant[] = [
  {
    name: "an older answer says that no webhook wants what was committed",
    breaks: "I50: an endpoint is sent all that is committed after its creation",
    file: "src/session/announcer.ts",
    find: "if (!isWanted && asked <= mark) {",
    replace: "if (!isWanted && asked < 0) {",
    tests: SESSION,
    seeds: 60,
  },
  {
    name: "a webhook's announcement is forgotten before it was taken",
    breaks: "I50: nothing committed is left out",
    file: "src/session/announcer.ts",
    find: "    if (isWanted)\n",
    replace: "    forgetAnnouncements(deps.sql, last.n);\n    if (isWanted)\n",
    tests: SESSION,
    seeds: 60,
  },
  {
    name: "a webhook's announcement is kept for good",
    breaks: "I50: at rest a session keeps nothing to announce",
    file: "src/session/announcer.ts",
    find: "    if (this.#isOpen()) forgetAnnouncements(deps.sql, last.n);",
    replace: "    if (this.#isOpen()) jobs.disarm('announce');\n    if (this.#isOpen()) return true;",
    tests: SESSION,
    seeds: 60,
  },
  {
    name: "a wait for the client is announced for each result",
    breaks: "a part of the results does not announce the wait again",
    file: "src/app/to-announcements.ts",
    find: 'before.turn.phase === "awaiting_tools" && !calledAnew',
    replace: "false",
    tests: SESSION,
  },
  {
    name: "a throwaway session is announced to webhooks",
    breaks: "no list has a throwaway session",
    file: "src/app/to-announcements.ts",
    find: "if (settings.throwaway || session === null) return [];",
    replace: "if (session === null) return [];",
    tests: SESSION,
  },
  {
    name: "a webhook's first tries do not wait for each other",
    breaks: "first tries come in the session's order",
    file: "src/tenant/webhooks/deliveries.ts",
    find: "message.type !== TEST_EVENT && findUntried(endpoint, session) !== null ? null : at,",
    replace: "at,",
    tests: TENANT,
  },
  {
    name: "an endpoint that answers 410 stays enabled",
    breaks: "410 disables at once",
    file: "src/tenant/webhooks/webhooks.ts",
    find: 'if (status === 410) disable(id, "gone");\n    else if',
    replace: "if",
    tests: TENANT,
  },
  {
    name: "a new address of an endpoint is blamed for the one before",
    breaks: "an endpoint is judged by its present address",
    file: "src/tenant/webhooks/webhooks.ts",
    find: "if (endpoints.findTarget(id, at)?.url !== url) return;",
    replace: "",
    tests: TENANT,
  },
  {
    name: "endpoints that hang take every connection",
    breaks: "one slow endpoint does not hold up another",
    file: "src/tenant/webhooks/flights.ts",
    find: "return isQuick || countWhere((flight) => !flight.isQuick) < NOT_QUICK_AT_ONCE;",
    replace: "return true;",
    tests: TENANT,
  },
  {
    name: "a webhook's try that was cut off is not made again",
    breaks: "at least once",
    file: "src/tenant/webhooks/webhooks.ts",
    find: "deliveries.lease(due.id, now() + LEASE_MS);",
    replace: "deliveries.lease(due.id, Number.MAX_SAFE_INTEGER);",
    tests: TENANT,
  },
  {
    name: "a webhook follows a redirect",
    breaks: "no redirect is followed",
    file: "src/tools/send-webhook.ts",
    find: "    redirects: 0,\n",
    replace: "",
    tests: SENDER,
  },
  {
    name: "a webhook is signed with the newest secret alone",
    breaks: "during a rotation each secret signs",
    file: "src/tools/send-webhook.ts",
    find: "await signWebhook({ id: event, timestamp, body }, known)",
    replace: "await signWebhook({ id: event, timestamp, body }, known.slice(0, 1))",
    tests: SENDER,
  },
];
