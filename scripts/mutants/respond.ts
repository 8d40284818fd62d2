/** Mutants of requests that add several things at once: all of it is recorded at its place and once, or nothing is. */
import { type Mutant, SIMULATION } from "./mutant.ts";

const RESPOND = ["test/session/respond.test.ts"];
const TOGETHER = "I38: everything that one request adds is recorded together, or not at all";

export const respond: readonly Mutant[] = [
  {
    name: "a refused request leaves its first steps behind",
    breaks: TOGETHER,
    file: "src/session/calls/once.ts",
    find: "if (!done.ok) throw new Refusal(done.error);",
    replace: "if (!done.ok) return done;",
    tests: RESPOND,
    seeds: 100,
  },
  {
    name: "a request goes on at the newest place, whichever it names",
    breaks: "I38: a request goes on after the turn that it names",
    file: "src/session/calls/respond-call.ts",
    find: "input.after === null ? ok(null) : continueAfter(session, step, input.after);",
    replace: "ok(null);",
    tests: SIMULATION,
    seeds: 100,
  },
  {
    name: "a repeated request adds everything a second time",
    breaks: "I38: a request that is repeated with its key is recorded once",
    file: "src/session/calls/respond-call.ts",
    find: "transactOnce<Acknowledged>(session, input.idempotency,",
    replace: "transactOnce<Acknowledged>(session, null,",
    tests: RESPOND,
    seeds: 100,
  },
  {
    name: "messages may follow while calls are open",
    breaks: "the model reads the results of its calls before the messages after them (docs/api/respond.md)",
    file: "src/session/calls/respond-call.ts",
    find: "const owed = messages.length > 0 ? open :",
    replace: "const owed = messages.length > 0 ? [] :",
    tests: RESPOND,
  },
  {
    name: "messages supersede whichever turn waits",
    breaks: "messages supersede the waiting turn that they name, and no other one (docs/api/respond.md)",
    file: "src/session/calls/respond-call.ts",
    find: "turn.id === supersedes && messages.length > 0",
    replace: "messages.length > 0",
    tests: RESPOND,
  },
  {
    name: "messages of one request are recorded in another order",
    breaks: "the messages of a request are recorded in their order (docs/api/respond.md)",
    file: "src/session/calls/respond-call.ts",
    find: "starting ? input.messages.slice(0, -1) :",
    replace: "starting ? input.messages.slice(0, -1).toReversed() :",
    tests: RESPOND,
  },
  {
    name: "results with other choices let their turn go on as it was asked",
    breaks: "a request that asks otherwise leads to a new turn (docs/api/respond.md)",
    file: "src/session/calls/respond-call.ts",
    find: "(!asked.input.renews && isAskedAlike(asked, turn))",
    replace: "turn",
    tests: RESPOND,
  },
  {
    name: "an access token speaks for others among several messages",
    breaks: "an access token sends a user's messages alone (docs/api/browsers.md)",
    file: "src/http/access-limits.ts",
    find: "?? ofMessages.find((found) => found !== null) ?? null",
    replace: "?? null",
    tests: ["test/http/access-tokens.test.ts"],
  },
  {
    name: "a message among several that starts a turn keeps the time of a copy",
    breaks: "a message that starts a turn is said now (docs/api/messages.md)",
    file: "src/http/schemas/respond.ts",
    find: 'index === last && message.role === "user"',
    replace: "index === -1",
    tests: ["test/http/respond.test.ts"],
  },
  {
    name: "what ends a response after a crash keeps numbers that its client has",
    breaks: "a client that heard more than is on record hears the end (docs/clients/openai-responses.md)",
    file: "src/http/openai/responses/translator.ts",
    find: 'frame.type === "turn.interrupted" ? placeEnding(events) : events',
    replace: "events",
    tests: ["test/http/openai/responses.test.ts"],
  },
];
