/** Other systems' rules: a small conversation for each, and the result of the published rule. */
import { describe, expect, test } from "vitest";
import { toColumn } from "../../scripts/lab/column";
import { filler } from "../../scripts/lab/engine/filler";
import { runUnlimited } from "../../scripts/lab/engine/run-column";
import { anthropic } from "../../scripts/lab/systems/anthropic";
import { SYSTEMS } from "../../scripts/lab/systems/catalogue";
import { cloudflareAgents, truncate } from "../../scripts/lab/systems/cloudflare-agents";
import { codex, newestOfUser } from "../../scripts/lab/systems/codex";
import { geminiCli, splitPoint } from "../../scripts/lab/systems/gemini-cli";
import { langchain, safeCut } from "../../scripts/lab/systems/langchain";
import { mastra } from "../../scripts/lab/systems/mastra";
import { opencode, prune, tailStart } from "../../scripts/lab/systems/opencode";
import { cutPoint, pi } from "../../scripts/lab/systems/pi";
import { runSystem } from "../../scripts/lab/systems/run-system";
import { type Moment, madeUp, type System, type SystemMessage } from "../../scripts/lab/systems/system";
import { trueTokens } from "../../scripts/lab/true-tokens";
import type { RecordedMessage } from "../../scripts/replay/recording";
import { messageText } from "../../src/evaluate/segments";

/** Text of this many tokens by characters over 4. */
const rough = (tokens: number): string => "x".repeat(4 * tokens);
const says = (role: "user" | "assistant", position: number, tokens: number): SystemMessage => ({
  ...madeUp(role, rough(tokens)),
  positions: [position],
});
const calls = (position: number, id = `c${position}`): SystemMessage => ({
  role: "assistant",
  parts: [{ type: "tool_call", call_id: id, name: "look_up", arguments: "" }],
  positions: [position],
  shows: null,
});
const result = (position: number, tokens: number): SystemMessage => ({
  role: "tool",
  parts: [{ type: "tool_result", call_id: `c${position - 1}`, name: "look_up", output: rough(tokens), is_error: false }],
  positions: [position],
  shows: null,
});

const WINDOW = 200_000;
const moment = (messages: readonly SystemMessage[], change: Partial<Moment> = {}): Moment => ({
  messages,
  all: messages,
  window: WINDOW,
  maxOutput: 4_000,
  call: 1,
  isFirst: true,
  refused: false,
  reported: null,
  exact: 0,
  head: 0,
  ...change,
});
const reported = (tokens: number, messages: readonly SystemMessage[]) => ({ reported: { tokens, messages: messages.length } });
const listPositions = (messages: readonly SystemMessage[]) => messages.map(({ positions }) => positions[0] ?? null);
const shownAfter = (system: System, at: Moment): readonly SystemMessage[] => {
  const decided = system.decide(at);
  if (!decided) return at.messages;
  return decided.kind === "show" ? decided.messages : decided.becomes("a summary");
};

describe("anthropic: clear_tool_uses and compact", () => {
  const rounds = [says("user", 1, 10), ...[2, 4, 6, 8, 10].flatMap((at) => [calls(at), result(at + 1, 50)])];

  test("above 100,000 input tokens all but the newest three results are cleared, and their calls stay", () => {
    expect(anthropic.decide(moment(rounds, { exact: 100_000 }))).toBeNull();
    const shown = shownAfter(anthropic, moment(rounds, { exact: 100_001 }));
    expect(listPositions(shown)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(shown.filter(({ shows }) => shows === 0).flatMap(({ positions }) => positions)).toEqual([3, 5]);
  });

  test("above 150,000 nothing but a summary is sent any more", () => {
    expect(anthropic.decide(moment(rounds, { exact: 150_001 }))).toMatchObject({ kind: "summarise", form: "same_prefix" });
    expect(listPositions(shownAfter(anthropic, moment(rounds, { exact: 150_001 })))).toEqual([null]);
  });

  test("in a smaller window both are the same share of it", () => {
    expect(anthropic.decide(moment(rounds, { exact: 8_000, window: 16_000 }))).toBeNull();
    expect(anthropic.decide(moment(rounds, { exact: 8_001, window: 16_000 }))?.kind).toBe("show");
  });
});

describe("codex", () => {
  const talk = [says("user", 1, 15_000), calls(2), result(3, 100), says("assistant", 4, 100), says("user", 5, 8_000), says("user", 6, 5)];

  test("from 90 % of the window on the user's messages and a summary are left", () => {
    expect(codex.decide(moment(talk, reported(179_999, talk)))).toBeNull();
    const shown = shownAfter(codex, moment(talk, reported(180_000, talk)));
    expect(shown.map(({ role }) => role)).toEqual(["user", "user", "user", "user"]);
    expect(listPositions(shown)).toEqual([null, 5, 6, null]);
  });

  test("keeps 20,000 tokens of them, the newest, and cuts the one that is over", () => {
    const kept = newestOfUser(talk, 20_000);
    expect(kept.map(({ parts }) => messageText(parts).length / 4)).toEqual([11_995, 8_000, 5]);
  });
});

describe("gemini-cli", () => {
  const talk = [says("user", 1, 300), says("assistant", 2, 300), says("user", 3, 150), says("assistant", 4, 50), says("user", 5, 200)];

  test("from half of the window on the first 70 % becomes a snapshot with a made-up answer, up to a message of the user", () => {
    expect(geminiCli.decide(moment(talk, reported(99_999, talk)))).toBeNull();
    const shown = shownAfter(geminiCli, moment(talk, reported(100_000, talk)));
    expect(shown.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(listPositions(shown)).toEqual([null, null, 5]);
  });

  test("without such a message all goes if the model spoke last, else what lies before the last one", () => {
    const rest = [says("user", 1, 10), says("assistant", 2, 10), says("user", 3, 10), calls(4), result(5, 500)];
    expect(splitPoint(rest)).toBe(2);
    expect(splitPoint([...rest, says("assistant", 6, 5)])).toBe(6);
  });
});

describe("opencode", () => {
  const talk = [says("user", 1, 500), says("assistant", 2, 500), says("user", 3, 900), says("assistant", 4, 900), says("user", 5, 30)];

  test("at the window less the reply all but the newest two turns is summarised, under another system prompt", () => {
    expect(opencode.decide(moment(talk, reported(195_999, talk)))).toBeNull();
    expect(opencode.decide(moment(talk, reported(196_000, talk)))).toMatchObject({ form: "messages", reads: [{}, {}] });
    expect(listPositions(shownAfter(opencode, moment(talk, reported(196_000, talk))))).toEqual([null, null, 3, 4, 5]);
  });

  test("of these turns stays what fits into the budget for them", () => {
    expect([tailStart(talk, 2_000), tailStart(talk, 1_829), tailStart(talk, 29)]).toEqual([2, 4, 5]);
  });

  test("results older than the newest 40,000 tokens of them are cleared, if that is more than 20,000, and of two turns none", () => {
    const two = [says("user", 90, 1), says("user", 91, 1)];
    const older = (size: number) => [says("user", 1, 1), calls(2), result(3, size), calls(4), result(5, 40_000), ...two];
    expect(prune(older(20_000), WINDOW)).toBeNull();
    expect(
      prune(older(20_001), WINDOW)
        ?.messages.filter(({ shows }) => shows === 0)
        .map(({ positions }) => positions[0]),
    ).toEqual([3]);
    expect(prune([says("user", 1, 1), calls(2), result(3, 90_000), says("user", 4, 1)], WINDOW)).toBeNull();
  });
});

describe("pi", () => {
  const talk = [says("user", 1, 9_000), calls(2), result(3, 12_000), says("assistant", 4, 9_000), says("user", 5, 1)];

  test("above the window less 16,384 what is older than 20,000 tokens is summarised from a transcript, before a turn only", () => {
    expect(pi.decide(moment(talk, reported(183_616, talk)))).toBeNull();
    expect(pi.decide(moment(talk, { ...reported(183_617, talk), isFirst: false }))).toBeNull();
    expect(pi.decide(moment(talk, reported(183_617, talk)))).toMatchObject({ form: "transcript" });
    expect(pi.decide(moment(talk, { refused: true }))?.kind).toBe("summarise");
  });

  test("cuts at the next message that is no result", () => {
    expect(cutPoint(talk, 20_000)).toBe(3);
    expect(cutPoint(talk, 9_001)).toBe(3);
    expect(cutPoint(talk, 21_001)).toBe(3);
    expect(cutPoint(talk, 30_001)).toBe(0);
    expect(cutPoint(talk, 90_000)).toBe(0);
  });
});

describe("cloudflare agents", () => {
  test("of all but the newest four messages a result shows 500 characters and a text 10,000", () => {
    const exchange = (at: number) => [says("user", at, 3_000), calls(at + 1), result(at + 2, 200), says("assistant", at + 3, 5)];
    const shown = shownAfter(cloudflareAgents, moment([...exchange(1), ...exchange(5), ...exchange(9)]));
    expect(listPositions(shown)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(shown.filter(({ shows }) => shows !== null).map(({ positions, shows }) => [positions[0], shows])).toEqual([
      [1, 10_000],
      [3, 500],
    ]);
  });

  test("says how much it left out", () => {
    expect(messageText(truncate(result(3, 200)).parts)).toMatch(/^x{500}\.\.\. \[truncated 300 chars\]$/);
    expect(truncate(result(3, 125)).shows).toBeNull();
  });
});

describe("langchain", () => {
  const many = Array.from({ length: 30 }, (_, at) => says(at % 2 ? "assistant" : "user", at + 1, 5_664));

  test("from 0.85 of the window on, by characters over 4 and 3 a message, the newest 20 messages are left", () => {
    expect(langchain.decide(moment(many))?.kind).toBe("summarise");
    expect(langchain.decide(moment(many.with(0, says("user", 1, 5_653))))).toBeNull();
    expect(listPositions(shownAfter(langchain, moment(many)))).toEqual([null, ...many.slice(10).map(({ positions }) => positions[0])]);
  });

  test("asks with the newest 4,000 tokens of what goes, whatever it counted", () => {
    expect(langchain.decide(moment(many, { window: 100 }))).toMatchObject({ most: 4_000, trims: true });
  });

  test("moves a cut back to a call whose results it would leave alone, and does not look further than five messages", () => {
    const short = [says("user", 1, 1), calls(2), result(3, 1), result(4, 1), says("assistant", 5, 1)];
    expect([safeCut(short, 2), safeCut(short, 3), safeCut(short, 4)]).toEqual([1, 1, 4]);
    const wide = [says("user", 1, 1), calls(2), ...[3, 4, 5, 6, 7, 8, 9].map((at) => result(at, 1))];
    expect(safeCut(wide, 8)).toBe(8);
  });
});

describe("mastra", () => {
  test("a turn begins with the newest ten messages and the new one, each with all that answered it, and stays so inside the turn", () => {
    const exchange = (at: number) => [says("user", at, 1), calls(at + 1), result(at + 2, 1), says("assistant", at + 3, 1)];
    const talk = [...[1, 5, 9, 13, 17, 21].flatMap(exchange), says("user", 25, 1)];
    expect(listPositions(shownAfter(mastra, moment(talk)))[0]).toBe(5);
    expect(mastra.decide(moment(talk, { isFirst: false }))).toBeNull();
  });
});

const user = (content: string): RecordedMessage => ({ role: "user", content });
const reply = (content: string): RecordedMessage => ({ role: "assistant", content });
const long = (turns: number): RecordedMessage[] =>
  Array.from({ length: turns }, (_, at) => [user(filler(150, `q${at}`)), reply(filler(250, `a${at}`))]).flat();
const made = (messages: readonly RecordedMessage[]) =>
  toColumn("made up", 8_000, [{ id: "c", system: filler(1_100, "system"), messages: [...messages] }]);

describe("a column under another system", () => {
  test.each(SYSTEMS.map((system) => [system.name, system] as const))(
    "that stays short costs exactly what it costs unlimited: %s",
    (_, system) => {
      const column = made([user("How are you?"), reply("Well."), user("Good."), reply("Yes.")]);
      expect(runSystem(column, system, { segments: trueTokens }).cost).toBe(runUnlimited(column, trueTokens).cost);
    },
  );

  test("what bounds nothing is refused, turn after turn", () => {
    const figures = runSystem(made(long(40)), cloudflareAgents, { segments: trueTokens });
    expect(figures.overflows).toBeGreaterThan(20);
    expect(figures.calls).toBe(40);
  });

  test("what is applied anew to each request breaks the prefix that the cache holds", () => {
    const figures = runSystem(made(long(40)), mastra, { segments: trueTokens });
    expect([figures.overflows, figures.breaks > 25]).toEqual([0, true]);
  });

  test("a call that lost its result is sent as it is, and counted", () => {
    const orphans: System = {
      name: "cuts anywhere",
      source: "nobody",
      recovers: false,
      decide: ({ messages }) => ({ kind: "show", isEpoch: false, messages: messages.filter(({ role }) => role !== "tool") }),
    };
    const call = { role: "assistant", content: null, tool_calls: [{ id: "x", name: "look_up", arguments: "{}" }] } as const;
    const column = made([
      user("Look."),
      { ...call, tool_calls: [...call.tool_calls] },
      { role: "tool", tool_call_id: "x", content: "1" },
      reply("One."),
    ]);
    expect(runSystem(column, orphans, { segments: trueTokens }).malformed).toHaveLength(1);
  });

  test("a summary that does not fit into the summariser's window changes nothing; one that may trim is made", () => {
    const asking = (trims: boolean): System => ({
      name: "reads too much",
      source: "nobody",
      recovers: false,
      decide: ({ messages, call }) => {
        if (call !== 2) return null;
        const reads = Array.from({ length: 20 }, () => messages).flat();
        return { kind: "summarise", reads, form: "messages", cap: 100, trims, most: null, becomes: (text) => [madeUp("user", text)] };
      },
    });
    const ran = (trims: boolean) => runSystem(made(long(4)), asking(trims), { segments: trueTokens });
    expect([ran(false).compactions, ran(true).compactions]).toEqual([0, 1]);
    expect(ran(false).cost).toBe(runUnlimited(made(long(4)), trueTokens).cost);
  });
});
