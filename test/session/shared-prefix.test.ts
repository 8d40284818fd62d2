/**
 * Sessions of one system prompt and one set of tools share a provider's prompt cache: what a request holds in front of its conversation is the
 * same in all of them, byte for byte, before and after something has left the view.
 */
import { describe, expect, test } from "vitest";
import { copySession } from "../../src/app/branch/copy-session";
import type { ModelRequest, ModelSpec } from "../../src/app/ports";
import { buildRequest } from "../../src/app/request/build-request";
import { toPolicy } from "../../src/context/policy-choice";
import { POLICY_NAMES } from "../../src/context/presets";
import { RECALL_TOOL } from "../../src/context/recall-tool";
import type { SessionId } from "../../src/domain/ids";
import { isRecallOffered } from "../../src/domain/state";
import { createChatModel } from "../../src/model/chat-model";
import { modelSpec } from "../model/model-request";
import { countingIds, id, TENANT } from "../support/builders";
import { Life, settle } from "./life";
import { ask, ROOMY, SUMMARY, say, trim, useTools, work } from "./talk";

const SYSTEM = "You are the help desk of a bicycle shop.";
const LOOK_UP = { name: "look_up", description: "Looks up an order.", parameters: { type: "object", properties: {} } };

/** Stands before every word that belongs to one session alone. */
const OWN = "§";

/** A life whose session has another id than that of all other tests. */
function openLife(session: SessionId): Life {
  const life = new Life(undefined, "life-1", countingIds());
  life.models = { resolve: async () => ROOMY };
  const service = new Proxy(life.service, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as (...given: readonly unknown[]) => unknown;
      return (_: unknown, ...rest: readonly unknown[]) => method.call(target, { tenant: TENANT, session }, ...rest);
    },
  });
  return Object.assign(life, { service });
}

async function talk(session: SessionId, policy: string): Promise<Life> {
  const life = openLife(session);
  await life.open(policy, SYSTEM, { tools: [LOOK_UP] });
  for (let n = 1; n <= 6; n++) await useTools(life, `${OWN} ${session} asks ${n}`, [`${OWN} ${session} ${"row ".repeat(200)}`]);
  for (let n = 1; n <= 2; n++) await say(life, `${OWN} ${session} says ${n}`, `${OWN} ${session} hears ${n}`);
  return life;
}

async function compact(life: Life, session: SessionId): Promise<void> {
  await ask(life, { keepRecent: 100 });
  await work(life, SUMMARY.replaceAll("none", `${OWN} ${session}`));
  if (life.runtime.state.view.epoch === 0) trim(life);
}

const WIRES: readonly ModelSpec[] = [
  modelSpec({ provider: "openai-compatible", base_url: "https://provider.example/v1" }),
  modelSpec({ provider: "openai-chat", base_url: "https://provider.example/v1" }),
  modelSpec({ provider: "openai", base_url: "https://provider.example/v1" }),
  modelSpec({ provider: "anthropic", base_url: "https://provider.example/v1" }),
  modelSpec({ provider: "google", base_url: "https://provider.example/v1beta" }),
  modelSpec({ provider: "workers-ai", upstream_id: "@cf/openai/gpt-oss-120b", base_url: null }),
];

const model = createChatModel({ credentials: async () => "key", estimate: (said) => said.length, ai: undefined });

/** What a provider reads, in its order: tools, the system prompt, the conversation. */
async function readPrompt(request: ModelRequest): Promise<string> {
  const { tools, system, systemInstruction, instructions, messages, input, contents } = JSON.parse((await model.render(request)).body);
  return JSON.stringify([tools, system ?? systemInstruction ?? instructions, messages ?? input ?? contents]);
}

const readPrompts = (lives: readonly Life[], spec: ModelSpec): Promise<string[]> =>
  Promise.all(lives.map((life) => readPrompt({ ...buildRequest(life.runtime.content, spec), purpose: "turn", maxOutput: 100 })));

function sharedStart([one = "", other = ""]: readonly string[]): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return one.slice(0, length);
}

/** The shared start reaches all the way to the first word of a session's own. */
function expectShared(prompts: readonly string[], words: readonly string[]): void {
  const shared = sharedStart(prompts);
  for (const prompt of prompts) expect(prompt.indexOf(OWN)).toBeLessThanOrEqual(shared.length);
  for (const word of words) expect(shared).toContain(word);
}

const ONE = id("ses", 1);
const OTHER = id("ses", 2);

describe.each(POLICY_NAMES)("two sessions under %s", (policy) => {
  const isInFront = toPolicy(policy).summary.placement === "system-prefix";

  test("share tools and system prompt on each provider's wire, and after a compaction memory_query, too", async () => {
    const lives = await Promise.all([talk(ONE, policy), talk(OTHER, policy)]);
    for (const spec of WIRES) expectShared(await readPrompts(lives, spec), [LOOK_UP.name, SYSTEM]);

    await Promise.all(lives.map((life, n) => compact(life, n === 0 ? ONE : OTHER)));
    for (const { runtime } of lives) expect([runtime.state.view.epoch > 0, isRecallOffered(runtime.state)]).toEqual([true, true]);
    // `oneclaw` places the summary in front of the system prompt, as its project did.
    const words = [LOOK_UP.name, RECALL_TOOL.name, ...(isInFront ? [] : [SYSTEM])];
    for (const spec of WIRES) expectShared(await readPrompts(lives, spec), words);
  });

  test("share them where one is a fork of the other, with what was said before", async () => {
    const source = await talk(ONE, policy);
    await compact(source, ONE);
    const fork = openLife(OTHER);
    await copySession({
      hold: async () => true,
      source: (step) => step(source.service, { tenant: TENANT, session: ONE }),
      target: (step) => step(fork.service, { tenant: TENANT, session: OTHER }),
      from: ONE,
      to: OTHER,
      at: null,
      title: null,
    });
    await settle();
    const before = isInFront ? [] : [SYSTEM, `${OWN} ${ONE}`];
    for (const spec of WIRES) expectShared(await readPrompts([source, fork], spec), [LOOK_UP.name, RECALL_TOOL.name, ...before]);
  });
});
