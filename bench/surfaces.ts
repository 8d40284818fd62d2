/** Time to first text and CPU of a turn through each vendor's API, beside the native one, over the same model in one run. */
import { z } from "zod";
import { callApi } from "../scripts/support/api-client.ts";
import { Failure } from "../scripts/support/output.ts";
import { registerModel, times } from "./support/chat.ts";
import { type BenchResult, type Figure, measured, median } from "./support/report.ts";
import type { Rig } from "./support/rig.ts";

const WINDOW = 128_000;
const WARM_UP = 30;
const SAMPLES = 16;
const TURNS = 15;
const GOAL = 1.15;

interface Asked {
  readonly model: string;
  readonly session: string;
  /** The session's external id, which is the id of an AI SDK's chat. */
  readonly chat: string;
  /** The number of the request. */
  readonly nth: number;
}

interface Surface {
  readonly name: string;
  path(asked: Asked): string;
  body(asked: Asked): object;
  headers?(asked: Asked): Readonly<Record<string, string>>;
  /** Stands in the stream as soon as there is text, and not before. */
  readonly text: string;
  /** Stands at the end of the stream of a turn that went well. */
  readonly end: string;
}

const QUESTION = "Go on, please.";
const inSession = ({ session }: Asked) => ({ "x-session-id": session });
const messages = [{ role: "user", content: QUESTION }];

const NATIVE: Surface = {
  name: "native",
  path: ({ session }) => `/v1/sessions/${session}/messages`,
  body: () => ({ content: QUESTION }),
  text: "event: text.delta",
  end: "event: turn.completed",
};

const SURFACES: readonly Surface[] = [
  {
    name: "chat completions",
    path: () => "/v1/chat/completions",
    body: ({ model }) => ({ model, stream: true, messages }),
    headers: inSession,
    text: '"content":"t',
    end: "data: [DONE]",
  },
  {
    name: "Responses",
    path: () => "/v1/responses",
    body: ({ model, session }) => ({ model, stream: true, conversation: `conv_${session.slice("ses_".length)}`, input: QUESTION }),
    text: "event: response.output_text.delta",
    end: "event: response.completed",
  },
  {
    name: "Anthropic Messages",
    path: () => "/v1/messages",
    body: ({ model }) => ({ model, max_tokens: 1_024, stream: true, messages }),
    headers: (asked) => ({ ...inSession(asked), "anthropic-version": "2023-06-01" }),
    text: '"text_delta"',
    end: "event: message_stop",
  },
  {
    name: "AI SDK",
    path: () => "/api/chat",
    body: ({ chat, nth }) => ({
      id: chat,
      trigger: "submit-message",
      messages: [{ id: `message-${nth}`, role: "user", parts: [{ type: "text", text: QUESTION }] }],
    }),
    text: '"text-delta"',
    end: '"finish"',
  },
];

/** About 20,000 tokens, and 40 tools, as coding agents send them with each request. */
const PROMPT = Array.from(
  { length: 1_250 },
  (_, nth) => `Rule ${nth}: read a file before it is changed, and say what was found in it.`,
).join("\n");
const parameters = { type: "object", properties: { path: { type: "string" }, count: { type: "number" } }, required: ["path"] };
const TOOLS = Array.from({ length: 40 }, (_, nth) => ({
  name: `tool_${nth}`,
  description: "Does one thing to a file. ".repeat(10),
  parameters,
}));
const AGENT_REQUESTS = 4;

const completion = ({ model }: Asked): object => ({
  model,
  stream: true,
  messages: [{ role: "system", content: PROMPT }, ...messages],
  tools: TOOLS.map((tool) => ({ type: "function", function: tool })),
});

/** The same request to the provider itself. */
const DIRECT: Surface = {
  name: "the provider itself",
  path: () => "/chat/completions",
  body: completion,
  text: '"content":"t',
  end: "data: [DONE]",
};

/** A request without a session. */
const AGENTS: readonly Surface[] = [
  { ...DIRECT, name: "agent, chat completions", path: () => "/v1/chat/completions" },
  {
    name: "agent, Responses",
    path: () => "/v1/responses",
    body: ({ model }) => ({
      ...{ model, stream: true, store: false, instructions: PROMPT, input: messages },
      tools: TOOLS.map((tool) => ({ type: "function", strict: false, ...tool })),
    }),
    text: "event: response.output_text.delta",
    end: "event: response.completed",
  },
  {
    name: "agent, Anthropic Messages",
    path: () => "/v1/messages",
    body: ({ model }) => ({
      ...{ model, max_tokens: 1_024, stream: true, system: PROMPT, messages },
      tools: TOOLS.map(({ parameters: input_schema, ...tool }) => ({ ...tool, input_schema })),
    }),
    headers: () => ({ "anthropic-version": "2023-06-01" }),
    text: '"text_delta"',
    end: "event: message_stop",
  },
];

interface Talk {
  readonly surface: Surface;
  /** Milliseconds from each request to its first text, since they were last taken. */
  readonly waits: number[];
  say(): Promise<void>;
}

const created = z.object({ id: z.string() });

async function prepare(rig: Rig, surface: Surface, model: string): Promise<Talk> {
  const chat = `bench ${surface.name}`;
  const opened = await callApi(rig.connection, { method: "POST", path: "/v1/sessions", body: { model, external_id: chat } });
  const asked = { model, session: created.parse(opened).id, chat };
  const waits: number[] = [];
  let nth = 0;
  const say = async (): Promise<void> => void waits.push(await hear(rig, surface, { ...asked, nth: ++nth }));
  await times(WARM_UP, say);
  waits.length = 0;
  return { surface, waits, say };
}

/** Runs one turn to its end, and returns how long its first text took. */
async function hear({ connection }: Rig, surface: Surface, asked: Asked, base = connection.url): Promise<number> {
  const headers = { authorization: `Bearer ${connection.key}`, "content-type": "application/json", accept: "text/event-stream" };
  const began = performance.now();
  const response = await fetch(`${base}${surface.path(asked)}`, {
    method: "POST",
    headers: { ...headers, ...surface.headers?.(asked) },
    body: JSON.stringify(surface.body(asked)),
  });
  const decoder = new TextDecoder();
  let heard = "";
  let first: number | null = null;
  for await (const bytes of response.body ?? []) {
    heard += decoder.decode(bytes, { stream: true });
    if (first === null && heard.includes(surface.text)) first = performance.now() - began;
  }
  if (first !== null && heard.includes(surface.end)) return first;
  throw new Failure(`A turn of ${surface.name} was answered with ${response.status}: ${heard.slice(0, 2_000)}`);
}

interface Taken {
  readonly cpu: number[];
  readonly wait: number[];
}

/** Each round measures every surface once, in another order, so that a machine that grows slower counts for all alike. */
async function measureAll(rig: Rig, talks: readonly Talk[]): Promise<ReadonlyMap<string, Taken>> {
  const taken = new Map<string, Taken>(talks.map(({ surface }) => [surface.name, { cpu: [], wait: [] }]));
  for (let round = 0; round < SAMPLES; round++) {
    const start = round % talks.length;
    for (const { surface, say, waits } of [...talks.slice(start), ...talks.slice(0, start)]) {
      const cpu = ((await rig.cpu.measure(() => times(TURNS, say))) / TURNS) * 1_000;
      taken.get(surface.name)?.cpu.push(cpu);
      taken.get(surface.name)?.wait.push(median(waits.splice(0)));
    }
  }
  return taken;
}

function toFigures(name: string, ours: Taken, native: Taken): Figure[] {
  const compare = (what: string, own: readonly number[], others: readonly number[]): Figure => {
    const ratios = own.map((value, index) => value / (others[index] ?? Number.NaN));
    return measured(`  ${what}, to native`, "x", ratios, GOAL);
  };
  return [
    measured(`${name}: CPU a turn`, "ms", ours.cpu),
    compare("CPU", ours.cpu, native.cpu),
    measured(`${name}: time to first text`, "ms", ours.wait),
    compare("time to first text", ours.wait, native.wait),
  ];
}

/** What each surface adds to an agent's request, beside the provider's own answer to it. */
async function measureAgents(rig: Rig, model: string, provider: string): Promise<Figure[]> {
  const asked = { model, session: "", chat: "", nth: 0 };
  const listen = (surface: Surface) => hear(rig, surface, asked, surface === DIRECT ? provider : undefined);
  const waits = new Map([DIRECT, ...AGENTS].map((surface) => [surface, [] as number[]]));
  for (let round = 0; round <= SAMPLES; round++) {
    for (const [surface, taken] of waits) {
      const heard: number[] = [];
      await times(AGENT_REQUESTS, async () => void heard.push(await listen(surface)));
      // The first round warms up.
      if (round > 0) taken.push(median(heard));
    }
  }
  const direct = waits.get(DIRECT) ?? [];
  return [...waits].flatMap(([surface, taken]) => {
    const own = measured(`${surface.name}: time to first text`, "ms", taken);
    if (surface === DIRECT) return [own];
    return [
      own,
      measured(
        "  more than the provider itself",
        "ms",
        taken.map((value, index) => value - (direct[index] ?? Number.NaN)),
      ),
    ];
  });
}

export async function benchSurfaces(rig: Rig): Promise<BenchResult> {
  const plan = { chunks: 20, gap: 1 };
  const model = await registerModel(rig, plan, WINDOW);
  await callApi(rig.connection, { method: "PATCH", path: "/v1/tenant", body: { default_model: model } });
  const talks: Talk[] = [];
  for (const surface of [NATIVE, ...SURFACES]) talks.push(await prepare(rig, surface, model));
  const taken = await measureAll(rig, talks);
  const agents = await measureAgents(rig, model, rig.provider.baseUrl(plan));
  const native = taken.get(NATIVE.name) ?? { cpu: [], wait: [] };
  return {
    title: "A turn of 20 chunks through each vendor's API, beside the native one",
    notes: [
      `One client, one turn at a time; medians of ${SAMPLES} alternating samples of ${TURNS} turns, each in a session of its own.`,
      "An agent's request has 20,000 tokens of instructions and 40 tools, and names no session.",
      "A ratio is the median of the ratios within a round. All of workerd is counted, with Miniflare's simulation of D1 and the disk.",
    ],
    figures: [
      measured("native: CPU a turn", "ms", native.cpu),
      measured("native: time to first text", "ms", native.wait),
      ...SURFACES.flatMap(({ name }) => toFigures(name, taken.get(name) ?? { cpu: [], wait: [] }, native)),
      ...agents,
    ],
  };
}
