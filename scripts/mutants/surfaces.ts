/** Mutants of the surfaces for other vendors' clients: what is new in a request, what it refers to, and whether it came before. */
import type { Mutant } from "./mutant.ts";

export const surfaces: readonly Mutant[] = [
  {
    name: "a counted try is taken for a new request",
    breaks: "a request that is sent again is recorded once",
    file: "src/app/idempotency.ts",
    find: "if (tries > 0) return since <= tries * PATIENCE_MS;",
    replace: "if (tries > 0) return false;",
    tests: ["test/http/surface/lost-answers.test.ts"],
  },
  {
    name: "a first try is taken for one that came before",
    breaks: "a request that is not marked as sent again is a new one",
    file: "src/app/idempotency.ts",
    find: "return kept.tries > 0 && kept.at >= arrived_at;",
    replace: "return true;",
    tests: ["test/http/surface/lost-answers.test.ts"],
  },
  {
    name: "a reference stands for what was redacted",
    breaks: "redacted content is copied nowhere",
    file: "src/http/openai/items/copied-item.ts",
    find: 'if (role === "tool" || redacted.some((id) => !isResult(id))) return null;',
    replace: 'if (role === "tool") return null;',
    tests: ["test/http/openai/references.test.ts"],
  },
  {
    name: "an item that the place has is said again by its name",
    breaks: "the model reads an item once",
    file: "src/http/openai/items/references.ts",
    find: 'const isNew = copied !== "none" && !is_there && !seen.has(whole);',
    replace: 'const isNew = copied !== "none" && !seen.has(whole);',
    tests: ["test/http/openai/references.test.ts"],
  },
  {
    name: "an input with other words goes on in the session",
    breaks: "an input goes on in a session only if it repeats its conversation word by word",
    file: "src/http/openai/responses/match-conversation.ts",
    find: 'return known.kind === "text" && given.text === known.text;',
    replace: 'return known.kind === "text";',
    tests: ["test/http/openai/match-conversation.test.ts"],
  },
  {
    name: "a throwaway session that reports its end twice is counted twice",
    breaks: "sums are equal to the ledger",
    file: "src/tenant/usage-outbox.ts",
    find: "if (usage.length === 0 || !noteEnd(session)) return;",
    replace: "if (usage.length === 0) return;",
    tests: ["test/tenant/throwaways.test.ts"],
  },
  {
    name: "sums that grow while they are sent are taken for sent",
    breaks: "all usage reaches the read model",
    file: "src/tenant/usage-outbox.ts",
    find: '"DELETE FROM unsent_usage WHERE session = ? AND added = ?", session, added',
    replace: '"DELETE FROM unsent_usage WHERE session = ?", session',
    tests: ["test/tenant/throwaways.test.ts"],
  },
];
