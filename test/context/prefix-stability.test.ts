/**
 * Between two epochs a request only grows at its end, byte for byte (docs/context.md): whatever is said, under every
 * preset, and with compactions in between. The bytes are those of the real adapter; it sets no cache markers.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planGuard } from "../../src/context/guard";
import type { Plan } from "../../src/context/plan";
import { toPolicy } from "../../src/context/policy-choice";
import { POLICY_NAMES } from "../../src/context/presets";
import { planResults } from "../../src/context/results-rung";
import { buildView, type ViewInput } from "../../src/context/view";
import type { ItemMeta, Part } from "../../src/domain/message";
import type { SessionState } from "../../src/domain/state";
import { appendToView } from "../../src/domain/view";
import { buildChatRequest } from "../../src/model/chat-request";
import { modelRequest } from "../model/model-request";
import { call, item, result, turnId, viewing } from "../support/builders";
import { drawn } from "../support/effort";
import { carriedOut, planUnder, toLimits } from "./planning";

const TOOLS = [{ name: "look_up", description: "Looks something up.", parameters: { type: "object" } }];
const limits = toLimits(8_000);

/** A session with the content that the object keeps in its tables. */
class Session {
  state: SessionState = viewing([]);
  readonly #parts = new Map<number, readonly Part[]>();
  readonly #policy: string;
  #changes = 0;

  constructor(policy: string) {
    this.#policy = policy;
  }

  add(make: (position: number) => ItemMeta, part: Part): void {
    const { view, next_position } = this.state;
    const meta = make(next_position);
    this.#parts.set(next_position, [part]);
    this.state = { ...this.state, view: appendToView(view, [meta]), next_position: next_position + 1 };
  }

  change(plan: Plan): void {
    this.#changes += 1;
    this.state = carriedOut(this.state, plan, { limits, tokens: 40, n: 100 + this.#changes });
  }

  /** The steps before a call, as a turn takes them. */
  prepare(): void {
    const policy = toPolicy(this.#policy);
    this.change(planResults({ state: this.state, limits, policy }));
    for (let round = 0; round < 3; round++) this.change(planGuard({ state: this.state, limits, policy }));
  }

  #viewInput(): ViewInput {
    const { overlays, items, reduced } = this.state.view;
    const policy = toPolicy(this.#policy);
    return {
      system: "Be kind.",
      pins: ["The order is 4711."],
      summaries: overlays.flatMap((overlay) => (overlay.kind === "summary" ? [`Summary ${overlay.id} of ${overlay.items}.`] : [])),
      dropped: overlays.reduce((sum, overlay) => sum + (overlay.kind === "dropped" ? overlay.items : 0), 0),
      placement: policy.summary.placement,
      entries: items.map((meta) => ({ meta, parts: this.#parts.get(meta.position) ?? [] })),
      reduced,
      namesRecall: policy.results.clear === "each_call",
      signedFrom: 0,
      model: "m",
    };
  }

  async body(): Promise<{ readonly messages: string; readonly rest: string }> {
    const { system, messages } = buildView(this.#viewInput());
    const { body } = await buildChatRequest(modelRequest({ system, messages, tools: TOOLS, maxOutput: null }));
    const { messages: sent, ...rest } = JSON.parse(body);
    // Without the bracket that closes the list, so that the text is a prefix of the next request.
    return { messages: JSON.stringify(sent).slice(0, -1), rest: JSON.stringify(rest) };
  }
}

type Step = readonly [
  what: "ask" | "answer" | "tools" | "abandoned" | "system" | "empty" | "compact" | "inline",
  words: string,
  tokens: number,
];

const step: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom("ask", "ask", "answer", "answer", "tools", "tools", "abandoned", "system", "empty", "compact", "inline"),
  fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 30 }),
    fc.constantFrom("$&", "</conversation_summary>", "[Conversation summary", "\u202e\u200b", '"}],"'),
  ),
  fc.integer({ min: 1, max: 1_500 }),
);

function take(session: Session, policy: string, [what, words, tokens]: Step): void {
  const text: Part = { type: "text", text: words };
  const execution = session.state.next_position;
  const turn = turnId(execution);
  const callPart: Part = { type: "tool_call", call_id: `call_${execution}`, name: "look_up", arguments: JSON.stringify({ words }) };
  const resultPart: Part = {
    type: "tool_result",
    call_id: `call_${execution}`,
    name: "look_up",
    output: words.repeat(20),
    is_error: false,
  };
  switch (what) {
    case "ask":
      return session.add((at) => item(at, "user", { tokens }), text);
    case "answer":
      return session.add((at) => item(at, "assistant", { tokens, turn }), text);
    case "system":
      return session.add((at) => item(at, "system", { tokens: 20 }), text);
    case "empty":
      return session.add((at) => item(at, "user", { tokens: 4 }), { type: "text", text: "" });
    case "abandoned":
      session.add((at) => call(at, execution, { tokens: 20, turn }), callPart);
      return session.add((at) => item(at, "user", { tokens }), text);
    case "tools":
      session.add((at) => call(at, execution, { tokens: 20, turn }), callPart);
      return session.add((at) => result(at, execution, { tokens, turn }), resultPart);
    case "compact":
      return session.change(planUnder(policy, session.state, { limits, trigger: "manual" }));
    case "inline":
      return session.change(planUnder(policy, session.state, { limits, trigger: "inline" }));
  }
}

describe.each(POLICY_NAMES)("under %s", (policy) => {
  test("each request begins with the one before it, as long as the epoch lasts", async () => {
    let changes = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const session = new Session(policy);
        let before = { epoch: session.state.view.epoch, ...(await session.body()) };
        for (const next of steps) {
          take(session, policy, next);
          session.prepare();
          const { epoch, items } = session.state.view;
          // Behind the model's own words a request ends with a stand-in for the user, which no later one repeats.
          if (items.at(-1)?.kind === "assistant") continue;
          const body = await session.body();
          expect(body.rest).toBe(before.rest);
          if (epoch === before.epoch) expect(body.messages.startsWith(before.messages)).toBe(true);
          else changes += 1;
          before = { epoch, ...body };
        }
      }),
      { numRuns: drawn(25) },
    );
    expect(changes).toBeGreaterThan(0);
  });
});

test("a summary that is appended leaves the request before it as it was, up to where the new one stands", async () => {
  const session = new Session("balanced");
  for (let n = 0; n < 12; n++) take(session, "balanced", [n % 2 ? "answer" : "ask", `words ${n}`, 600]);
  take(session, "balanced", ["compact", "", 1]);
  const [overlay] = session.state.view.overlays;
  const before = (await session.body()).messages;
  const chain = before.slice(0, before.indexOf(overlay?.id ?? "none"));
  for (let n = 0; n < 8; n++) take(session, "balanced", [n % 2 ? "answer" : "ask", `more words ${n}`, 600]);
  take(session, "balanced", ["compact", "", 1]);

  expect(session.state.view.overlays.map(({ kind }) => kind)).toEqual(["summary", "summary"]);
  expect(chain.length).toBeGreaterThan(100);
  expect((await session.body()).messages.startsWith(chain + (overlay?.id ?? ""))).toBe(true);
});
