/**
 * A past turn's request, rebuilt from the log of a long session: the code of the session's object over Node's SQLite in
 * this process, and in workerd.
 */
import { z } from "zod";
import { callApi } from "../scripts/support/api-client.ts";
import { SessionHost } from "../scripts/support/session-host.ts";
import type { ChatModel, ModelRequest, ModelSpec, ModelStreamPart } from "../src/app/ports.ts";
import { estimateParts } from "../src/context/item-tokens.ts";
import { estimateTokens } from "../src/context/tokens.ts";
import type { TurnId } from "../src/domain/ids.ts";
import { sha256 } from "../src/lib/sha256.ts";
import { createChatModel } from "../src/model/chat-model.ts";
import { stateAt } from "../src/session/log/checkpoints.ts";
import { append, makeWords, openSession, registerModel, say } from "./support/chat.ts";
import { type BenchResult, type Figure, measured, median } from "./support/report.ts";
import type { Rig } from "./support/rig.ts";

const MESSAGES = 10_000;
const WINDOW = 32_000;
const WORDS = 60;
/** Turns that are rebuilt, spread over the whole session, and how many of them are also folded from the start. */
const TURNS = 200;
const FROM_START = 20;
const WARM_UP = 20;
/** Milliseconds. */
const GOAL = 20;

const spec: ModelSpec = {
  id: "bench",
  provider: "openai",
  upstream_id: "gpt-6-sol",
  base_url: "https://provider.example/v1",
  context_window: WINDOW,
  max_output: 1_024,
  source: "deployment",
};

const weigh = ({ system, messages }: ModelRequest): number =>
  messages.reduce((sum, { parts }) => sum + estimateParts(parts), estimateTokens(system ?? ""));

/** Builds each request as the provider's adapter does, and answers it without a provider. */
class Speaker implements ChatModel {
  readonly #adapter = createChatModel({ credentials: async () => null, estimate: estimateTokens });

  render(request: ModelRequest) {
    return this.#adapter.render(request);
  }

  async *stream(request: ModelRequest, options: Parameters<ChatModel["stream"]>[1]): AsyncGenerator<ModelStreamPart> {
    options.onRequest?.((await this.render(request)).body);
    const text = request.purpose === "turn" ? makeWords(WORDS) : summaryFor(request);
    yield { type: "text", text };
    const usage = { input: weigh(request), output: estimateTokens(text), cached: 0, reasoning: 0 };
    yield { type: "finish", finish: "stop", usage };
  }
}

/** With all the sections that the prompt requests. */
function summaryFor({ system, messages }: ModelRequest): string {
  const asked = `${system ?? ""}\n${JSON.stringify(messages.at(-1)?.parts)}`;
  const sections = [...new Set(asked.match(/## [A-Za-z ]+/g) ?? ["## Summary"])];
  return sections.map((section) => `${section}\n${makeWords(WORDS)}`).join("\n");
}

async function buildSession(): Promise<SessionHost> {
  const host = new SessionHost({ spec, model: new Speaker(), digest: sha256 });
  await host.open({ policy: "balanced", system: makeWords(200) });
  for (let n = 0; n < MESSAGES / 2; n++)
    await host.submit({ role: "user", parts: [{ type: "text", text: `${n} ${makeWords(WORDS)}` }], run: true });
  return host;
}

/** Milliseconds of one rebuild. Throws when the result differs from the request that was sent. */
async function rebuild({ service, caller }: SessionHost, turn: TurnId): Promise<number> {
  const startedAt = performance.now();
  const told = await service.contextAt(caller, { turn, call: null });
  const took = performance.now() - startedAt;
  if (!told.ok) throw new Error(`A turn was not told: ${told.error.code}`);
  if (told.value.digest.matches !== true) throw new Error(`The request of ${turn} is not what was sent.`);
  return took;
}

function spread<T>(all: readonly T[], count: number): T[] {
  return Array.from({ length: count }, (_, index) => all[Math.floor((index * all.length) / count)]).flatMap((one) => one ?? []);
}

const at = (samples: readonly number[], share: number): number =>
  [...samples].sort((a, b) => a - b)[Math.floor(share * (samples.length - 1))] ?? 0;

const quantiles = (name: string, samples: readonly number[], goal?: number): Figure[] => [
  measured(`${name}, p50`, "ms", [at(samples, 0.5)], goal),
  measured(`${name}, p95`, "ms", [at(samples, 0.95)], goal),
];

function timeStates({ sql }: SessionHost, seqs: readonly number[]): number[] {
  return seqs.map((seq) => {
    const startedAt = performance.now();
    sql.transaction(() => stateAt(sql, seq));
    return performance.now() - startedAt;
  });
}

const told = z.object({ digest: z.object({ matches: z.literal(true) }) });
const page = z.object({ data: z.array(z.object({ turn_id: z.string().nullable() })), next_cursor: z.string().nullable() });

/** In workerd, over HTTP: four messages in each turn, and the complete response is read. */
async function timeOverHttp(rig: Rig): Promise<Figure[]> {
  const session = await openSession(rig, await registerModel(rig, { chunks: WORDS, gap: 0 }, WINDOW));
  for (let n = 0; n < MESSAGES / 4; n++) {
    await append(rig, session, `${n} ${makeWords(WORDS)}`);
    await append(rig, session, `${n} ${makeWords(WORDS)}`);
    await say(rig, session);
  }
  const ids: string[] = [];
  const path = `/v1/sessions/${session}`;
  for (let after: string | null = "0"; after !== null; ) {
    const { data, next_cursor }: z.infer<typeof page> = page.parse(
      await callApi(rig.connection, { method: "GET", path: `${path}/messages?limit=200&after=${after}` }),
    );
    ids.push(...new Set(data.flatMap(({ turn_id }) => turn_id ?? [])));
    after = next_cursor;
  }
  const [past, plain]: [number[], number[]] = [[], []];
  for (const turn of spread([...new Set(ids)], TURNS)) {
    const startedAt = performance.now();
    told.parse(await callApi(rig.connection, { method: "GET", path: `${path}/context?at=${turn}` }));
    const between = performance.now();
    await callApi(rig.connection, { method: "GET", path });
    past.push(between - startedAt);
    plain.push(performance.now() - between);
  }
  return [...quantiles("in workerd over HTTP", past), ...quantiles("GET of the session beside it", plain)];
}

export async function benchPast(rig: Rig): Promise<BenchResult> {
  const host = await buildSession();
  const { sql } = host;
  const turns = sql.all<{ id: string }>("SELECT id FROM turns ORDER BY id").map(({ id }) => id as TurnId);
  for (const turn of spread(turns, WARM_UP)) await rebuild(host, turn);
  const near: number[] = [];
  for (const turn of spread(turns, TURNS)) near.push(await rebuild(host, turn));
  const { seq, view, messages } = host.runtime.state;
  const states = timeStates(
    host,
    Array.from({ length: TURNS }, (_, index) => Math.ceil(((index + 1) * seq) / TURNS)),
  );
  const [stored] = sql.all<{ rows: number; units: number }>("SELECT count(*) AS rows, sum(length(text)) AS units FROM checkpoints");
  const far: number[] = [];
  for (const turn of spread(turns, FROM_START)) {
    sql.all("DELETE FROM checkpoints");
    far.push(await rebuild(host, turn));
  }
  const notes = [
    `${messages} messages of ${WORDS} words in a window of ${WINDOW}, ${seq} events, epoch ${view.epoch}; the requests are OpenAI's (Responses).`,
    `A rebuild is everything that GET …/context?at= does: state, view, request, digest. ${TURNS} turns along the whole session; each equals its digest.`,
    `${stored?.rows} checkpoints of ${Math.round((stored?.units ?? 0) / (stored?.rows ?? 1))} characters. From the start: ${FROM_START} of the turns, without any checkpoint, and leaving them behind.`,
    `Over HTTP: ${MESSAGES} messages, a turn among four; the answer is read whole. Beside it the same connection's GET of the session.`,
  ];
  const figures = [
    ...quantiles("rebuild", near, GOAL),
    ...quantiles("its state alone", states),
    ...quantiles("rebuild from the start", far),
    ...(await timeOverHttp(rig)),
    { name: "from the start over from a checkpoint, medians", value: median(far) / median(near), unit: "x" },
  ];
  return { title: `What the model saw: past turns of a session of ${messages} messages`, notes, figures };
}
