/** Mutants of retention: what is removed by age, and what must stay. */
import type { Mutant } from "./mutant.ts";

const SESSION = ["test/session/retention.test.ts"];
const TENANT = ["test/tenant/retention.test.ts"];

export const retention: readonly Mutant[] = [
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
    replace: "await Promise.resolve();\n    await Promise.resolve();\n    const erased = await erase();",
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
    file: "src/tenant/retention.ts",
    find: "if (began === changes) await attempt(session, { setting, least });",
    replace: "await attempt(session, { setting, least });",
    tests: TENANT,
  },
];
