/**
 * Mutants of the adapters, which their own tests (`test/model`) must detect: visibility of keys, bounds, cancellation,
 * and what is sent back.
 */
import type { Mutant } from "./mutant.ts";

const MODEL = ["test/model"];

export const adapters: readonly Mutant[] = [
  {
    name: "a redirect is followed",
    breaks: "the key goes to no redirect",
    file: "src/model/provider-link.ts",
    find: 'redirect: "manual"',
    replace: 'redirect: "follow"',
    tests: MODEL,
  },
  {
    name: "another provider's thinking is sent",
    breaks: "metadata goes back to who wrote it alone",
    file: "src/model/prompt-rules.ts",
    find: 'takesBack: (part) => asText(ownMetadata(part, "google")?.thoughtSignature) !== null,',
    replace: "takesBack: () => true,",
    tests: MODEL,
  },
  {
    name: "a part of a sealed thought stays behind",
    breaks: "thinking goes back whole or not at all",
    file: "src/model/prompt-rules.ts",
    find: 'other.type === "reasoning" ? ownMetadata(other, "openai")',
    replace: 'other === part ? ownMetadata(other, "openai")',
    tests: MODEL,
  },
  {
    name: "results are matched with the last of the calls that share an id",
    breaks: "a result follows its call",
    file: "src/model/wire-names.ts",
    find: "this.#open.get(id)?.shift()",
    replace: "this.#open.get(id)?.pop()",
    tests: MODEL,
  },
  {
    name: "a summary's request is written to the cache",
    breaks: "no cache mark where no later request starts",
    file: "src/model/cache-marks.ts",
    find: 'purpose === "turn" ? messages.length - 1 : -1',
    replace: "purpose ? messages.length - 1 : -1",
    tests: MODEL,
  },
  {
    name: "calls of a reply that was cut off are given",
    breaks: "calls are given when the reply has ended well",
    file: "src/model/reply-parts.ts",
    find: '...this.#held.filter(({ type }) => type !== "tool_call"), {',
    replace: "...this.#held, {",
    tests: MODEL,
  },
  {
    name: "what a reply holds is not bounded",
    breaks: "1,000,000 units of arguments and metadata",
    file: "src/model/reply-parts.ts",
    find: "if (this.#heldUnits > MAX_HELD_UNITS) this.#fail(CUT_OFF);",
    replace: "",
    tests: MODEL,
  },
  {
    name: "halves of a character leave apart",
    breaks: "well formed also where two pieces share a character",
    file: "src/model/well-formed.ts",
    find: 'this.#half = endsInHalf(text) ? text.slice(-1) : "";',
    replace: 'this.#half = "";',
    tests: MODEL,
  },
  {
    name: "a stopped call waits for its answer",
    breaks: "a call ends when it is aborted, also if the adapter ignores the signal",
    file: "src/model/provider-model.ts",
    find: "parts = await untilAborted(signal, open(request, adapter, link.fetch));",
    replace: "parts = await open(request, adapter, link.fetch);",
    tests: MODEL,
  },
  {
    name: "a stopped call leaves the connection open",
    breaks: "stopping closes the provider's connection",
    file: "src/model/provider-link.ts",
    find: "this.#reader?.cancel().catch(() => undefined);",
    replace: "",
    tests: MODEL,
  },
  {
    name: "OpenAI keeps what it was sent",
    breaks: "`store: false`",
    file: "src/model/providers.ts",
    find: "store: false,",
    replace: "store: true,",
    tests: MODEL,
  },
  {
    name: "the stand-in recites the operator's words",
    breaks: "of a system prompt only the summary and the pins are quoted",
    file: "src/model/embedded/sentences.ts",
    find: 'splitStatements(conversationIn(request.system ?? ""))',
    replace: 'splitStatements(request.system ?? "")',
    tests: ["test/model/embedded.test.ts"],
  },
];
