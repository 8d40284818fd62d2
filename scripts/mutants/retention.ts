/** Mutants of retention: what is removed by age, and what must stay. */
import type { Mutant } from "./mutant.ts";

const SESSION = ["test/session/retention.test.ts"];
const TENANT = ["test/tenant/retention.test.ts"];

const USAGE = ["test/read-model/usage-removal.test.ts", "test/tenant/usage-retention.test.ts"];
const ARCHIVE = ["test/session/archive.test.ts", "test/domain/archive.test.ts"];

export const retention: readonly Mutant[] = [
  {
    name: "each page of a dry run counts all candidates",
    breaks: "docs/retention.md: candidates are counted for the first page",
    file: "src/tenant/erasure/retention.ts",
    find: "if (after === null || counted?.least !== least) {",
    replace: "{",
    tests: ["test/tenant/retention.test.ts"],
  },
  {
    name: "a message leaves an archived session archived",
    breaks: "what people do in an archived session brings it back",
    file: "src/domain/archive.ts",
    find: "SubmitMessage: true,",
    replace: "SubmitMessage: false,",
    tests: ARCHIVE,
  },
  {
    name: "a compaction of its own brings an archived session back",
    breaks: "what the service does by itself leaves a session archived",
    file: "src/domain/archive.ts",
    find: ' && !(command.type === "RequestCompaction" && command.trigger !== "manual")',
    replace: "",
    tests: ARCHIVE,
  },
  {
    name: "archiving counts as a use of the session",
    breaks: "the age of an archived session begins with its last use",
    file: "src/domain/evolve.ts",
    find: 'event.type === "SessionArchived" ||\n    (event.type === "MessageRedacted" && event.cause === "retention") ||',
    replace: '(event.type === "MessageRedacted" && event.cause === "retention") ||',
    tests: ARCHIVE,
  },
  {
    name: "a session that waits for tools is archived",
    breaks: "a session in use is not archived",
    file: "src/domain/archive.ts",
    find: ' ?? (state.turn && { code: "turn_running" as const, turn: state.turn.id })',
    replace: "",
    tests: ARCHIVE,
  },
  {
    name: "retention archives a session that it is to erase",
    breaks: "a session that both rules reach is erased",
    file: "src/app/retention.ts",
    find: "if (eraseAt <= now) return",
    replace: "if (eraseAt <= now && archiveAt > now) return",
    tests: ["test/app/retention.test.ts"],
  },
  {
    name: "retention erases a session whose turn is open",
    breaks: "a session in use stays, however old it is",
    file: "src/session/calls/retention-calls.ts",
    find: "is_busy: state.turn !== null || state.queue.length > 0,",
    replace: "is_busy: false,",
    tests: SESSION,
  },
  {
    name: "a session is judged before a pause in which a message can come",
    breaks: "no acknowledged message is lost",
    file: "src/session/calls/retention-calls.ts",
    find: "const erased = await erase();",
    // So long that the message is acknowledged in it. In a shorter one the answer says that the session was erased.
    replace: "await new Promise((resolve) => setTimeout(resolve, 0));\n    const erased = await erase();",
    tests: SESSION,
  },
  {
    name: "a dry run of retention erases",
    breaks: "a dry run changes nothing",
    file: "src/session/calls/retention-calls.ts",
    find: "if (isDryRun) return ok(retained);",
    replace: "",
    tests: SESSION,
  },
  {
    name: "the removal of old results counts as a use of the session",
    breaks: "an idle session is erased when its age comes",
    file: "src/domain/evolve.ts",
    find: "updated_at: isUse(event) ? event.at : state.updated_at",
    replace: "updated_at: event.at",
    tests: SESSION,
  },
  {
    name: "rules that were replaced go on to remove",
    breaks: "when a change of the rules is answered, the earlier ones remove nothing more",
    file: "src/tenant/erasure/retention.ts",
    find: "if (began === changes) await attempt(session, { setting, least });",
    replace: "await attempt(session, { setting, least });",
    tests: TENANT,
  },
  {
    name: "a late write brings removed usage back",
    breaks: "what retention has removed stays away",
    file: "src/read-model/statements.ts",
    find: "params: [...params, at] };",
    replace: "params: [...params, Number.MAX_SAFE_INTEGER] };",
    tests: USAGE,
  },
  {
    name: "sums show usage that is being removed",
    breaks: "no sum has a part of a month that is removed",
    file: "src/read-model/usage-counts.ts",
    find: "SELECT complete_from FROM usage_bounds WHERE tenant_id = $",
    replace: "SELECT 0 FROM usage_bounds WHERE tenant_id = $",
    tests: USAGE,
  },
  {
    name: "the tenant's object gives up its sums before the databases do",
    breaks: "sums of what is not too old are complete at any moment of the removal",
    file: "src/tenant/usage/usage-retention.ts",
    find: "if (await deps.remove(before)) {",
    replace: "if ((await deps.remove(before).catch(() => true)) || true) {",
    tests: USAGE,
  },
  {
    name: "a new life of the object leaves the old sums that the one before it did not remove",
    breaks: "what retention has removed stays away",
    file: "src/tenant/usage/usage-retention.ts",
    find: "return wanted !== applied || !bound.isCleared();",
    replace: "return wanted !== applied;",
    tests: USAGE,
  },
  {
    name: "a part of a month is removed",
    breaks: "whole months go",
    file: "src/lib/utc-time.ts",
    find: "date.getUTCMonth() - months, 1)",
    replace: "date.getUTCMonth() - months, date.getUTCDate())",
    tests: USAGE,
  },
  {
    name: "an erasure hands over usage that was removed",
    breaks: "what retention has removed stays away",
    file: "src/tenant/usage/erased-usage.ts",
    find: "if (applied !== null && row.at < applied) continue;",
    replace: "",
    tests: USAGE,
  },
];
