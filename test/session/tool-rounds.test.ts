/** One turn of many rounds of tools, whose results are many times the window: the view is compacted between the rounds, and the turn goes on. */
import { expect, test } from "vitest";
import { toPolicyText } from "../../src/context/policy-choice";
import type { ModelChunk, ModelRequest, ModelSpec } from "../../src/app/ports";
import type { ToolDefinition } from "../../src/domain/message";
import { SPEC, Life, CALLER, settle } from "./life";
import { Pilot, weightOf } from "./pilot";


const ROUNDS = Number(process.env.ROUNDS ?? 200);
const spec: ModelSpec = { ...SPEC, context_window: 32_000, max_output: 1_000 };
const fetchPage: ToolDefinition = { name: "fetch_page", parameters: { type: "object" }, runs: { by: "http", tool: "fetch_page" } };
const QUESTION = "Read all two hundred pages and tell me the word on the last one, please.";
const page = (n: number) => `Page ${n}. ${`The ${n}th page says nothing of note about the weather, the road or the people on it. `.repeat(400)}`.slice(0, 25_000);

const W = Number(process.env.WIDTH ?? 1), KIND = process.env.KIND ?? "en", FAIL = process.env.FAIL === "1", FACTOR = Number(process.env.FACTOR ?? 1);
const pageOf = (n: number) => KIND === "en" ? page(n) : KIND === "zh" ? `第${n}页。${`这一页第${n}没有说明天气和道路上的人。`.repeat(2000)}`.slice(0, 25_000) : JSON.stringify(Array.from({length: 600}, (_, i) => ({id: `${n}-${i}a9F${i*7919}`, v: i * n})) ).slice(0, 25_000);
test("probe", async () => {
  const life = new Life();
  life.models = { resolve: async () => spec };
  let runs = 0;
  life.tools = { run: async () => ({ output: pageOf(++runs), failure: null }) };
  const policy = toPolicyText({ preset: (process.env.POLICY ?? "balanced") as "balanced", tools: { max_rounds: 1000 } });
  await life.service.open(CALLER, { model: spec.id, policy, system: null, tools: [fetchPage], title: null, metadata: {} });
  await settle();
  let rounds = 0;
  const finish = (request: ModelRequest, kind: "stop" | "tool_calls"): ModelChunk => ({ type: "finish", finish: kind, usage: { input: Math.round(FACTOR * weightOf(request)), output: 20, cached: 0, reasoning: 0 } });
  const times: number[] = [];
  let last = performance.now();
  const pilot = new Pilot(life, {
    turn: (request) => {
      times.push(performance.now() - last); last = performance.now();
      rounds++;
      if (rounds > ROUNDS) return [{ type: "text", text: "Done." }, finish(request, "stop")];
      return [...Array.from({ length: W }, (_, i) => ({ type: "tool_call" as const, call: { type: "tool_call" as const, call_id: `call_${rounds}_${i}`, name: "fetch_page", arguments: JSON.stringify({ n: rounds, i }) } })), finish(request, "tool_calls")];
    },
    summary: (request) => {
      if (FAIL) return [{ type: "failure", failure: { kind: "unavailable", status: 503 } }];
      const text = ["Goal","Constraints and preferences","Progress","Decisions","Next steps","Critical context"].map((h) => `## ${h}\nThe pages are being read.`).join("\n");
      const headings = `${request.system ?? ""}\n${JSON.stringify(request.messages.at(-1))}`.match(/## [A-Za-z ]+/g) ?? [];
      const said = headings.map((h) => `${h}\nThe pages are being read.`).join("\n") || text;
      return [{ type: "text", text: said }, { type: "finish", finish: "stop", usage: { input: Math.round(FACTOR * weightOf(request)), output: 100, cached: 0, reasoning: 0 } }];
    },
  });
  await pilot.say(QUESTION);
  for (let i = 0; i < 5; i++) await settle();
  for (let i = 0; i < 400 && life.runtime.state.turn; i++) { await life.advance(5000); await pilot.goOn(); }
  const counts: Record<string, number> = {};
  for (const event of life.events()) counts[event.type] = (counts[event.type] ?? 0) + 1;
  console.log(counts, rounds, life.runtime.state.last_turn, pilot.asked.length);
  console.log("max weight", Math.max(...pilot.turns.map(weightOf)), "without question", pilot.turns.filter((r) => !JSON.stringify(r.messages).includes(QUESTION)).length);
  const avg = (xs: number[]) => xs.reduce((a, b) => a + b, 0) / xs.length;
  console.log("ms per round", [0, 1, 2, 3].map((q) => avg(times.slice(q * times.length / 4, (q + 1) * times.length / 4)).toFixed(2)));
  console.log(pilot.turns.slice(0, 30).map((r) => `${r.messages.length}:${weightOf(r)}`).join(" "));
  if (process.env.SHOW) for (const r of pilot.turns.slice(1, 5)) console.log(r.messages.map((m) => `${m.role}: ${JSON.stringify(m.parts).slice(0, 300)}`).join("\n"), "\n---");
  if (process.env.SHOW) for (const e of life.events().filter((e) => e.type === "EpochChanged").slice(0, 4)) console.log(JSON.stringify(e).slice(0, 900));
  const cs = await life.service.compactions(CALLER, { after: null, limit: 100, order: "asc" });
  if (cs.ok) console.log(cs.value.data.slice(0, 6).map((c) => JSON.stringify(c).slice(0, 400)), cs.value.data.length);
  expect(1).toBe(1);
}, 120_000);
