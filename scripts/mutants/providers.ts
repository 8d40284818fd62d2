/** Breakages of how the providers are spoken to: the contract (`test/contract`) is to notice. */
import type { Mutant } from "./mutant.ts";

const CONTRACT = "test/contract";

export const providers: readonly Mutant[] = [
  {
    name: "a provider's cache is not marked behind the summary chain",
    breaks: "docs/design.md §6a: cache hints",
    file: "src/model/cache-marks.ts",
    find: "return [system, chain, placeBefore(messages), newest];",
    replace: "return [system, placeBefore(messages), newest];",
    tests: [`${CONTRACT}/cached-prefix.test.ts`],
  },
  {
    name: "a provider's cache is not marked where the last request ended",
    breaks: "docs/design.md §6a: cache hints",
    file: "src/model/cache-marks.ts",
    find: "return [system, chain, placeBefore(messages), newest];",
    replace: "return [system, chain, newest];",
    tests: [`${CONTRACT}/cached-prefix.test.ts`],
  },
  {
    name: "thinking that the provider redacted does not go back",
    breaks: "docs/design.md §6a: what goes back",
    file: "src/model/prompt-rules.ts",
    find: "return asText(own?.signature) !== null || asText(own?.redactedData) !== null;",
    replace: "return asText(own?.signature) !== null;",
    tests: [`${CONTRACT}/tool-rounds.test.ts`],
  },
  {
    name: "thinking that the provider sealed does not go back",
    breaks: "docs/design.md §6a: what goes back",
    file: "src/model/prompt-rules.ts",
    find: "takesBack: isSealed,",
    replace: "takesBack: () => false,",
    tests: [`${CONTRACT}/tool-rounds.test.ts`],
  },
  {
    name: "a provider is sent one id for two calls",
    breaks: "docs/design.md §6a: ids and names",
    file: "src/model/wire-names.ts",
    find: "this.#used.add(wire);",
    replace: "",
    tests: [`${CONTRACT}/requests.test.ts`],
  },
  {
    name: "a provider is sent another's thought signature",
    breaks: "docs/design.md §6a: what goes back",
    file: "src/model/compatible-prompt.ts",
    find: "return readsSignatures(model) ? {",
    replace: "return model ? {",
    tests: [`${CONTRACT}/tool-rounds.test.ts`],
  },
  {
    name: "a call that nobody listens to any more keeps the provider's socket",
    breaks: "docs/design.md §6a: stopping",
    file: "src/model/chat-completions.ts",
    find: 'signal.removeEventListener("abort", close);\n    close();',
    replace: 'signal.removeEventListener("abort", close);',
    tests: [`${CONTRACT}/failures.test.ts`],
  },
  {
    name: "the provider's cached tokens are not counted",
    breaks: "docs/design.md §5: measuring",
    file: "src/model/sdk-usage.ts",
    find: "cached: asCount(inputTokens.cacheRead) ?? 0,",
    replace: "cached: 0,",
    tests: [`${CONTRACT}/usage.test.ts`],
  },
  {
    name: "the wait that a provider names is not read",
    breaks: "docs/design.md §6a: failures",
    file: "src/model/call-failure.ts",
    find: "const wait = readRetryAfter(headers, Date.now()) ?? readRetryDelay(text);",
    replace: "const wait = readRetryDelay(text);",
    tests: [`${CONTRACT}/failures.test.ts`],
  },
];
