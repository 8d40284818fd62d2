/** Breakages that the contract (`test/contract`) is to notice, since only a provider could. */
import type { Mutant } from "./mutant.ts";

const CONTRACT = "test/contract";

export const contract: readonly Mutant[] = [
  {
    name: "a provider's cache is not marked behind the summary chain",
    breaks: "docs/design.md §6a: cache hints",
    file: "src/model/cache-marks.ts",
    find: "return [system, chain, placeBefore(messages), newest];",
    replace: "return [system, placeBefore(messages), newest];",
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
    name: "a provider is sent another's thought signature",
    breaks: "docs/design.md §6a: what goes back",
    file: "src/model/compatible-prompt.ts",
    find: "return readsSignatures(model) ? {",
    replace: "return model ? {",
    tests: [`${CONTRACT}/tool-rounds.test.ts`],
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
