/**
 * `npm run providers`: asks a stand-in of every known endpoint, which refuses as the endpoint does, for text, a history, tools twice, thinking, an
 * image, too much, with a wrong key and for an unknown model. Endpoints whose key is in the environment are asked, too.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { ChatModel, ModelSpec } from "../src/app/ports.ts";
import { ENDPOINTS, type Endpoint, type Quirks } from "../src/context/model-quirks.ts";
import { createChatModel } from "../src/model/chat-model.ts";
import { OPENAI_KEY } from "../test/support/stand-in/providers/openai/errors.ts";
import { createResponses } from "../test/support/stand-in/providers/openai/responses.ts";
import {
  createStrictChat,
  STRICTNESS,
  type Strictness,
  unknownModel,
  withRules,
} from "../test/support/stand-in/providers/openai/strict-chat.ts";
import { startProvider } from "../test/support/stand-in/providers/provider-server.ts";
import type { SaidBlock } from "../test/support/stand-in/providers/script.ts";
import { QUIRKS_PAGE } from "./providers/page.ts";
import { type Asked, type Outcome, SCENARIOS } from "./providers/scenarios.ts";
import { readCommandLine } from "./support/command-line.ts";
import { Failure, print, runScript, say } from "./support/output.ts";
import { ROOT } from "./support/paths.ts";

const USAGE = `Usage: npm run providers -- [options] [ENDPOINT...]
  --page    writes docs/quirks.md from the table of quirks, and asks nothing
  --check   fails when docs/quirks.md is another page, and asks nothing

An endpoint is asked for real when the environment has its key and the name of a model, such as MISTRAL_API_KEY and MISTRAL_MODEL.`;

const WINDOW = 20_000;
const PAGE = join(ROOT, "docs", "quirks.md");

const REPLIES: Readonly<Record<Parameters<Asked["script"]>[0], readonly SaidBlock[]>> = {
  text: [{ type: "text", text: "Yes." }],
  call: [{ type: "call", name: "look_up", arguments: '{"city":"Oslo"}' }],
  thinking: [{ type: "text", text: "<think>Is it?</think>Yes." }],
};

/** OpenAI's models do not think in tags. */
const OPENLY: readonly SaidBlock[] = [
  { type: "thinking", text: "Is it?" },
  { type: "text", text: "Yes." },
];

/** The refusals of an endpoint that its quirks respect. */
function listRules({ system, alternate_roles, call_ids, return_reasoning, stream_options, output_limit }: Quirks): readonly Strictness[] {
  return [
    unknownModel,
    ...(system === undefined ? [] : [STRICTNESS.system]),
    ...(alternate_roles ? [STRICTNESS.alternate_roles] : []),
    ...(call_ids === "nine_characters" ? [STRICTNESS.call_ids] : []),
    ...(return_reasoning ? [STRICTNESS.reasoning_wanted] : []),
    ...(stream_options === false ? [STRICTNESS.stream_options] : []),
    ...(output_limit === "max_completion_tokens" ? [STRICTNESS.max_tokens] : []),
  ];
}

const createModel = (key: string): ChatModel => createChatModel({ credentials: async () => key, estimate: (text) => text.length / 4 });

const toSpec = ({ provider, quirks }: Endpoint, upstream_id: string, base_url: string | null): ModelSpec => ({
  id: upstream_id,
  provider,
  upstream_id,
  base_url,
  context_window: WINDOW,
  max_output: 4_096,
  ...(provider === "openai-compatible" && { quirks }),
  source: "deployment",
});

const askAll = async (asked: Asked): Promise<readonly Outcome[]> => {
  const outcomes: Outcome[] = [];
  for (const ask of Object.values(SCENARIOS)) outcomes.push(await ask(asked));
  return outcomes;
};

async function askStandIn(endpoint: Endpoint): Promise<readonly Outcome[]> {
  const isOpenAi = endpoint.provider === "openai";
  const dialect = isOpenAi
    ? withRules(createResponses({ window: WINDOW }), [unknownModel])
    : createStrictChat(WINDOW, listRules(endpoint.quirks));
  const standIn = await startProvider(dialect);
  try {
    return await askAll({
      model: createModel(OPENAI_KEY),
      wrongKey: createModel("sk-wrong"),
      spec: toSpec(endpoint, isOpenAi ? "gpt-4o" : "some-model", standIn.baseUrl),
      unknown: toSpec(endpoint, "no-such-model", standIn.baseUrl),
      script: (reply) => standIn.enqueue({ blocks: isOpenAi && reply === "thinking" ? OPENLY : REPLIES[reply] }),
    });
  } finally {
    await standIn.close();
  }
}

/** Null: the environment has no key or no model for it. */
function findReal(endpoint: Endpoint): Asked | null {
  const name = endpoint.id.toUpperCase().replaceAll("-", "_");
  const { [`${name}_API_KEY`]: key, [`${name}_MODEL`]: model, [`${name}_BASE_URL`]: address } = process.env;
  const base_url = address ?? endpoint.base_url;
  if (!key || !model || base_url?.includes("{")) return null;
  return {
    model: createModel(key),
    wrongKey: createModel("sk-wrong"),
    spec: { ...toSpec(endpoint, model, base_url), context_window: 2_000_000 },
    unknown: toSpec(endpoint, "no-such-model", base_url),
    script: () => {},
  };
}

const toRow = (name: string, outcomes: readonly Outcome[]): string =>
  [name.padEnd(24), ...outcomes.map(({ ok, said }) => (ok ? said : `✗ ${said}`).padEnd(15))].join(" ").trimEnd();

function writePage({ check }: { readonly check: boolean }): number {
  if (!check) writeFileSync(PAGE, QUIRKS_PAGE);
  else if (readFileSync(PAGE, "utf8") !== QUIRKS_PAGE)
    throw new Failure("docs/quirks.md is not the page of the table. Write it: npm run providers -- --page");
  say(check ? "docs/quirks.md is the page of the table" : "docs/quirks.md is written");
  return 0;
}

await runScript(async () => {
  const { page, check, files } = readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: { page: { type: "boolean", default: false }, check: { type: "boolean", default: false } },
    schema: z.object({ files: z.array(z.enum(ENDPOINTS.map(({ id }) => id))), page: z.boolean(), check: z.boolean() }),
  });
  if (page || check) return writePage({ check });
  const asked = ENDPOINTS.filter(({ id }) => files.length === 0 || files.includes(id));
  print(
    toRow(
      "endpoint",
      Object.keys(SCENARIOS).map((said) => ({ ok: true, said })),
    ),
  );
  let failed = 0;
  for (const endpoint of asked) {
    const outcomes = await askStandIn(endpoint);
    failed += outcomes.filter(({ ok }) => !ok).length;
    print(toRow(endpoint.name, outcomes));
    const real = findReal(endpoint);
    if (real) print(toRow(`${endpoint.name}, for real`, await askAll(real)));
  }
  return failed === 0 ? 0 : 1;
});
