/** The benchmarks' HTTP calls: models, sessions, messages, turns. */
import { z } from "zod";
import { callApi } from "../../scripts/support/api-client.ts";
import { Failure } from "../../scripts/support/output.ts";
import { runTurn } from "../../scripts/support/turns.ts";
import type { ReplyPlan } from "./provider.ts";
import type { Rig } from "./rig.ts";

const created = z.object({ id: z.string() });
const described = z.object({ message_count: z.number(), current_context_tokens: z.object({ tokens: z.number() }) });

/** Registers a model whose every reply follows `plan`, and returns its id. */
export async function registerModel(rig: Rig, plan: ReplyPlan, window: number): Promise<string> {
  const id = `bench-${plan.chunks}-${plan.gap}-${window}`;
  const body = { provider: "openai-compatible", base_url: rig.provider.baseUrl(plan), context_window: window, max_output: 1_024 };
  await callApi(rig.connection, { method: "PUT", path: `/v1/models/${id}`, body });
  return id;
}

export async function openSession(rig: Rig, model: string): Promise<string> {
  return created.parse(await callApi(rig.connection, { method: "POST", path: "/v1/sessions", body: { model } })).id;
}

export function describeSession(rig: Rig, session: string): Promise<z.infer<typeof described>> {
  return callApi(rig.connection, { method: "GET", path: `/v1/sessions/${session}` }).then((value) => described.parse(value));
}

const messages = (session: string): string => `/v1/sessions/${session}/messages`;

/** Appends a user message without a turn. */
export async function append(rig: Rig, session: string, content: string): Promise<void> {
  await callApi(rig.connection, { method: "POST", path: messages(session), body: { content, run: false } });
}

/** Runs one streamed turn to its end. Throws a `Failure` when it does not complete. */
export async function say(rig: Rig, session: string): Promise<void> {
  const end = await runTurn(rig.connection, { method: "POST", path: messages(session), body: { content: "Go on, please." } });
  if (end?.type !== "turn.completed") throw new Failure(`A turn ended with ${JSON.stringify(end)}`);
}

/** Requests the reply of `plan` through one of the rig's plain Workers. */
export async function fetchThrough(rig: Rig, worker: "proxy" | "reader", plan: ReplyPlan): Promise<void> {
  const headers = { "x-upstream": `${rig.provider.baseUrl(plan)}/chat/completions` };
  const response = await fetch(worker === "proxy" ? rig.proxyUrl : rig.readerUrl, { method: "POST", headers, body: "{}" });
  await response.text();
}

export async function times(count: number, work: () => Promise<void>): Promise<void> {
  for (let index = 0; index < count; index++) await work();
}

const WORDS = "an ordinary message says what somebody wants to know and a little about why they would like to know it".split(" ");

/** Text of about `count` tokens. */
export const makeWords = (count: number): string => Array.from({ length: count }, (_, index) => WORDS[index % WORDS.length]).join(" ");
