/** What a call used and cost: once, and never for nothing because nobody knows. */
import { CONTEXT, DOMAIN, type Mutant } from "./mutant.ts";

const TITLES = ["test/session/title.test.ts"];
const USAGE = ["test/session/usage.test.ts"];

export const ledger: readonly Mutant[] = [
  {
    name: "a call of unknown cost is free",
    breaks: "I18: the ledger",
    file: "src/domain/call-totals.ts",
    find: "unpriced: totals.unpriced + (cost === undefined ? 1 : 0),",
    replace: "unpriced: totals.unpriced,",
    tests: DOMAIN,
  },
  {
    name: "a receipt forgets a call of unknown cost",
    breaks: "I18: a receipt has the sum of its compaction's calls",
    file: "src/domain/spent.ts",
    find: "cost: spent.cost === null || call.cost === undefined ? null : roundCost(spent.cost + call.cost),",
    replace: "cost: roundCost((spent.cost ?? 0) + (call.cost ?? 0)),",
    tests: DOMAIN,
  },
  {
    name: "cached tokens are paid for twice",
    breaks: "design §9: a call's cost",
    file: "src/context/cost.ts",
    find: "uncachedOf(usage) * prices.input",
    replace: "input * prices.input",
    tests: CONTEXT,
  },
  {
    name: "thinking beside the output is free",
    breaks: "design §9: a call's cost",
    file: "src/domain/model-call.ts",
    find: "(reasoning <= output ? output : output + reasoning)",
    replace: "output",
    tests: CONTEXT,
  },
  {
    name: "a report of zeros has a cost",
    breaks: "design §9: unknown is never free",
    file: "src/context/cost.ts",
    find: "usage && isCount(usage, estimate) ? costOf",
    replace: "usage && estimate >= 0 ? costOf",
    tests: CONTEXT,
  },
  {
    name: "a title takes the place of the user's",
    breaks: "design §9: titles",
    file: "src/domain/decide.ts",
    find: "title && settings.title === null ?",
    replace: "title ?",
    tests: DOMAIN,
  },
  {
    name: "a title is asked for as often as its object dies",
    breaks: "I18: a title is asked for at most twice",
    file: "src/domain/evolve-turn.ts",
    find: 'outcome === "crashed" ? title_tries + 1 : MAX_TITLE_TRIES;',
    replace: 'outcome === "crashed" ? title_tries : MAX_TITLE_TRIES;',
    tests: [...DOMAIN, ...TITLES],
  },
  {
    name: "a title's call is not noted before it is made",
    breaks: "I18: the ledger",
    file: "src/app/turn/make-title.ts",
    find: "ports.noteTitle(crashedCall(request, writer.state), tries);",
    replace: "",
    tests: TITLES,
  },
  {
    name: "another model's window stands beside the context",
    breaks: "design §5: context_window beside every usage",
    file: "src/session/window-note.ts",
    find: "return known?.model === model ? known.window : null;",
    replace: "return known?.window ?? null;",
    tests: USAGE,
  },
  {
    name: "an erased session hands no ledger over",
    breaks: "I17: an erased session's calls stay in the sums",
    file: "src/session/calls/lifecycle-calls.ts",
    find: "const usage = burnt ? [] : sumForErasure(allCalls(runtime.deps.sql));",
    replace: "const usage = burnt ? sumForErasure(allCalls(runtime.deps.sql)) : [];",
    tests: ["test/session/erased-usage.test.ts"],
  },
  {
    name: "an erasure wipes the log without waiting for the tenant's object",
    breaks: "I17: the ledger is handed over before the log is wiped",
    file: "src/session/calls/lifecycle-calls.ts",
    find: "    const usage = await handOverUsage(runtime, caller, isBurnt() || !runtime.exists);",
    replace:
      "    const handing = handOverUsage(runtime, caller, isBurnt());\n    handing.catch(() => {});\n    await burn(runtime, caller, runtime.state.updated_at);\n    const usage = await handing;",
    tests: ["test/session/erased-usage.test.ts"],
  },
  {
    name: "a tenant says what the deployment's key costs",
    breaks: "design §9: whoever pays for a call says what it costs",
    file: "src/tenant/describe-model.ts",
    find: 'const isOwn = by === "deployment" ||',
    replace: 'const isOwn = by === "tenant" ||',
    tests: ["test/tenant/registry.test.ts"],
  },
];
