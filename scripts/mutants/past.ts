/** Mutants of past requests and of their comparison. */
import type { Mutant } from "./mutant.ts";

const PAST = ["test/session/past-context.test.ts"];

export const past: readonly Mutant[] = [
  {
    name: "a past request is built on the session as it is now",
    breaks: "I8: what is told of a past request is what was sent",
    file: "src/session/calls/past-request.ts",
    find: "createContent(sql, () => state)",
    replace: "createContent(sql, () => runtime.state)",
    tests: PAST,
  },
  {
    name: "a past request shows what was redacted since",
    breaks: "of what was redacted only the redaction is shown",
    file: "src/session/content.ts",
    find: "meta.redacted === true || (text === undefined && known[index] === undefined);",
    replace: "meta.redacted === true;",
    tests: PAST,
  },
  {
    name: "a past state has the items as they were redacted later",
    breaks: "I9: a past state is the fold to its point, from any checkpoint",
    file: "src/session/log/log-tables.ts",
    find: "return recorded && redacted_seq > seq ? recorded : item;",
    replace: "return item;",
    tests: ["test/session/checkpoints.test.ts", "test/session/past-context.test.ts"],
  },
  {
    name: "a past request is taken to match whatever it is",
    breaks: "the digest says whether it is what was sent",
    file: "src/session/calls/past-context.ts",
    find: "recorded === rebuilt;",
    replace: "true;",
    tests: PAST,
  },
  {
    name: "a past request is built on the state before its own question",
    breaks: "I8: what is told of a past request is what was sent",
    file: "src/app/turn/ask-model.ts",
    find: "seq: state.seq,",
    replace: "seq: state.seq - 1,",
    tests: PAST,
  },
  {
    name: "a past request forgets the cap that was asked for",
    breaks: "I8: what is told of a past request is what was sent",
    file: "src/app/turn/ask-model.ts",
    find: "max_output: maxOutput,",
    replace: "max_output: null,",
    tests: PAST,
  },
  {
    name: "a past state is read from a checkpoint of another state version",
    breaks: "storage: a checkpoint is ignored when the version differs",
    file: "src/session/log/checkpoints.ts",
    find: "AND version = ? ORDER BY",
    replace: "AND version <= ? ORDER BY",
    tests: ["test/session/checkpoints.test.ts"],
  },
  {
    name: "of two past requests with other tools the beginning is told to be alike",
    breaks: "two requests are compared by what they show",
    file: "src/context/view-diff.ts",
    find: "from.tools !== to.tools || from.built",
    replace: "from.built",
    tests: ["test/session/context-diff.test.ts"],
  },
];
