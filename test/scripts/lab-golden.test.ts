/** One run of the lab, figure by figure: a change of a policy, the planner or the ladder shows its effect on cost and memory here. */
import { describe, expect, test } from "vitest";
import { toColumn } from "../../scripts/lab/column";
import { runColumn, runUnlimited } from "../../scripts/lab/engine/run-column";
import { toSetup } from "../../scripts/lab/engine/setup";
import { toRow } from "../../scripts/lab/report";
import { trueTokens } from "../../scripts/lab/true-tokens";
import type { Conversation, RecordedMessage } from "../../scripts/replay/recording";

/** One customer after another: a question, two look-ups with JSON results, an answer. Every fourth customer asks about an early order. */
function madeUp(customers: number): Conversation {
  const messages = Array.from({ length: customers }, (_, n) => customer(n)).flat();
  return { id: "made-up", system: "You look after the orders of a shop. Look up before you promise anything.", messages };
}

function customer(n: number): RecordedMessage[] {
  const [order, customer] = [`ORD${1_000 + n}`, `customer_${n}`];
  const lines = Array.from({ length: 12 }, (_, at) => ({ sku: `SKU${n}${at}0`, name: "a thing of wood", quantity: at, price: 3 * at }));
  return [
    { role: "user", content: `I am ${customer}. Where is my order ${order}? It was to come last week, and nobody has told me anything.` },
    calling(`call_${n}_a`, "get_customer", { customer }),
    { role: "tool", tool_call_id: `call_${n}_a`, content: JSON.stringify({ customer, email: `c${n}@example.com`, orders: [order] }) },
    calling(`call_${n}_b`, "get_order", { order }),
    { role: "tool", tool_call_id: `call_${n}_b`, content: JSON.stringify({ order, status: "on its way", lines }) },
    { role: "assistant", content: `Your order ${order} is on its way. It has twelve lines and should arrive tomorrow.` },
    {
      role: "user",
      content: n % 4 === 3 && n > 14 ? `And what came of ORD${1_000 + n - 14}?` : "Thank you. Leave it with the neighbour, please.",
    },
    { role: "assistant", content: `I have noted that beside ${order}.` },
  ];
}

const calling = (id: string, name: string, args: object): RecordedMessage => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, name, arguments: JSON.stringify(args) }],
});

const column = toColumn("made up", 8_000, [madeUp(48)]);
const asProduction = { guard: true, eachCall: false, countsChain: false, recall: false };
const unlimited = runUnlimited(column, trueTokens);
const run = (name: string, change: Partial<typeof asProduction> = {}) => {
  const setup = toSetup(name, { ...asProduction, ...change });
  return toRow({ setup, figures: runColumn(column, setup, trueTokens) }, unlimited);
};

describe("the lab on a made-up conversation at 8,000", () => {
  test("is the same each time", () => {
    expect(run("balanced")).toEqual(run("balanced"));
  });

  test.each(["economy", "balanced", "retain", "verbatim", "oneclaw", "opal", "odincode", "yeoman"])(
    "%s with the guard overflows nothing, sends nothing malformed and keeps the prefix between two changes",
    (name) => {
      expect(run(name)).toMatchObject({ turns: 96, calls: 192, overflows: 0, refused: 0, malformed: 0, breaks: 0 });
    },
  );

  test("what the four profiles cost and keep", () => {
    const shown = ["economy", "balanced", "retain", "verbatim"].map((name) => {
      const { cost, compactions, verbatim_8k, verbatim_quarter, identifiers_needed, identifiers_lost, peak } = run(name);
      const shares = [cost, verbatim_8k, verbatim_quarter].map((share) => share.toFixed(3)).join(" ");
      return `${name}: ${shares}, ${compactions} summaries, peak ${peak}, lost ${identifiers_lost} of ${identifiers_needed}`;
    });
    expect(shown).toEqual([
      "economy: 0.599 0.581 0.997, 5 summaries, peak 5567, lost 9 of 201",
      "balanced: 0.657 0.655 0.997, 4 summaries, peak 7086, lost 8 of 201",
      "retain: 0.665 0.667 0.999, 4 summaries, peak 7027, lost 7 of 201",
      "verbatim: 0.674 0.677 1.000, 4 summaries, peak 7133, lost 7 of 201",
    ]);
  });

  test("memory_query offered weighs in the requests after the first change, and breaks, overflows and doubles nothing", () => {
    const [without, offered] = [run("balanced"), run("balanced", { recall: true })];
    expect(offered).toMatchObject({ overflows: 0, refused: 0, malformed: 0, breaks: 0 });
    expect([without, offered].map(({ cost, peak }) => `${cost.toFixed(3)}, peak ${peak}`)).toEqual([
      "0.657, peak 7086",
      "0.655, peak 6901",
    ]);
  });

  test("a window that is too small for what comes between two calls shows in the row without the guard", () => {
    const small = { ...column, window: 2_048 };
    const setup = toSetup("odincode", { ...asProduction, guard: false });
    const { overflows, failed_turns, malformed } = toRow({ setup, figures: runColumn(small, setup, trueTokens) }, unlimited);
    expect({ overflows, malformed, failed_turns: failed_turns * 96 }).toEqual({ overflows: 80, malformed: 0, failed_turns: 80 });
  });
});
