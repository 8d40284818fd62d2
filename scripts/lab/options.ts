/** The options of `npm run lab`. */
import { join } from "node:path";
import { z } from "zod";
import { parsePolicyText } from "../../src/context/policy-choice";
import { DEFAULT_POLICY, POLICY_NAMES } from "../../src/context/presets";
import { readCommandLine, wholeNumber } from "../support/command-line.ts";
import { LONGHAND } from "../support/paths.ts";
import { isPriceName, PRICE_NAMES } from "./conditions.ts";
import { isSummariesName, SUMMARIES_NAMES } from "./summariser.ts";
import { SYSTEMS } from "./systems/catalogue.ts";

const SYSTEM_NAMES = SYSTEMS.map(({ name }) => name);

const USAGE = `Usage: npm run lab -- --traces DIR [options]
  --traces DIR    recorded conversations, *.jsonl (docs/recordings.md has the format)
  --policy P      one of ${POLICY_NAMES.join(", ")},
                  or an object as a session takes it; may be given several times (all)
  --system S      another system's rule beside them: all, or one of
                  ${SYSTEM_NAMES.join(", ")}; may be given several times (none)
  --column NAME   only columns whose name has this in it; may be given several times (all)
  --window N      window of every column, in tokens (16000)
  --times N       each recording so many times in a row, in one session (1)
  --prices NAME   ${PRICE_NAMES.join(", ")} (usual)
  --cold K        the provider's cache has forgotten the session before every Kth turn (never)
  --summaries S   ${SUMMARIES_NAMES.join(", ")}: whether summaries fail, run long and come short, and how often (ideal)
  --seed N        which of them, call by call (1)
  --oracle        what each policy could have cost at best, with the whole future known
  --html FILE     a page of its own with plots: the policies, all systems, the oracle, other prices
  --each-call     look at the soft trigger before each call, not where the policy says
  --count-chain   a folded summary is as long as its share of the chain too, not only of what is new
  --recall        memory_query is offered, and weighs in every request after the first change of the view
  --check         the four profiles as production runs them; fails when one is not what docs/policy-figures.md says
  --out DIR       where the pictures go (.longhand/lab)
  --json          figures as JSON`;

/** An empty text means the default. */
const isPolicy = (text: string): boolean => parsePolicyText(text) !== DEFAULT_POLICY || text === DEFAULT_POLICY;

/** Nothing is checked of another policy, or of these otherwise than docs/policy-figures.md has them. */
const NOT_WITH_CHECK = [
  "policy",
  "system",
  "column",
  "window",
  "times",
  "prices",
  "cold",
  "summaries",
  "seed",
  "oracle",
  "html",
  "each-call",
  "count-chain",
  "recall",
] as const;

const options = {
  traces: { type: "string" },
  policy: { type: "string", multiple: true },
  system: { type: "string", multiple: true },
  column: { type: "string", multiple: true },
  window: { type: "string" },
  times: { type: "string" },
  prices: { type: "string" },
  cold: { type: "string" },
  summaries: { type: "string" },
  seed: { type: "string" },
  oracle: { type: "boolean", default: false },
  html: { type: "string" },
  "each-call": { type: "boolean", default: false },
  "count-chain": { type: "boolean", default: false },
  recall: { type: "boolean", default: false },
  check: { type: "boolean", default: false },
  out: { type: "string", default: join(LONGHAND, "lab") },
  json: { type: "boolean", default: false },
} as const;

const schema = z
  .object({
    files: z.array(z.string()).length(0, "Name the folder of the recordings by --traces."),
    traces: z.string("is missing: the folder of the recordings"),
    policy: z.array(z.string().refine(isPolicy, "names no policy")).optional(),
    system: z.array(z.string().refine((name) => name === "all" || SYSTEM_NAMES.includes(name), "names no system")).optional(),
    column: z.array(z.string()).optional(),
    window: wholeNumber(1_024, 10_000_000).optional(),
    times: wholeNumber(1, 100).optional(),
    prices: z
      .string()
      .transform((name, context) => {
        if (isPriceName(name)) return name;
        context.addIssue({ code: "custom", message: `must be one of ${PRICE_NAMES.join(", ")}` });
        return z.NEVER;
      })
      .optional(),
    cold: wholeNumber(1, 10_000).optional(),
    summaries: z
      .string()
      .transform((name, context) => {
        if (isSummariesName(name)) return name;
        context.addIssue({ code: "custom", message: `must be one of ${SUMMARIES_NAMES.join(", ")}` });
        return z.NEVER;
      })
      .optional(),
    seed: wholeNumber(1, 1_000_000).optional(),
    oracle: z.boolean(),
    html: z.string().optional(),
    "each-call": z.boolean(),
    "count-chain": z.boolean(),
    recall: z.boolean(),
    check: z.boolean(),
    out: z.string(),
    json: z.boolean(),
  })
  .refine((given) => !given.check || !NOT_WITH_CHECK.some((name) => given[name]), {
    path: ["check"],
    message: `goes with none of --${NOT_WITH_CHECK.join(", --")}`,
  })
  .refine((given) => (given.summaries ?? "ideal") === "ideal" || !(given.oracle || given.html || given.system), {
    path: ["summaries"],
    message: "other than ideal are our policies' alone: not with --oracle, --html or --system",
  })
  .refine((given) => !given.oracle || !given["count-chain"], {
    path: ["oracle"],
    message: "knows summaries by the share of what is new alone: not with --count-chain",
  });

export type Given = z.infer<typeof schema>;

export const readOptions = (args: readonly string[]): Given => readCommandLine(args, { usage: USAGE, options, schema });
