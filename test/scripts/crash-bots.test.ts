/** What `npm run crash-test -- --bots` finds: its plan and its verdict. The run itself takes minutes, because a chat's next life begins within 30 seconds. */
import { describe, expect, test } from "vitest";
import { type Case, judgeBots } from "../../scripts/crash-test/bots/judge";
import { drawPlan, type Planned, readPieces, writeReply } from "../../scripts/crash-test/bots/plan";

const plan = (mark: number, changes: Partial<Planned> = {}): Planned => ({
  ...{ mark, platform: "slack", chat: 1, at: 0, kind: "short", failure: null },
  ...changes,
});
const PLANNED = [plan(1), plan(2, { kind: "slow" })];
const toText = (planned: Planned): string => writeReply(planned).join("\n\n");
const [FIRST, SECOND] = PLANNED.map(toText) as [string, string];

const toTurn = (mark: number, status = "completed") => ({
  ...{ id: `trn_${mark}`, status, message_id: `msg_${mark}`, said: PLANNED.flatMap(toText).flatMap(readPieces) },
});

function build(changes: Partial<Case> = {}, texts: readonly string[] = [FIRST, SECOND]): Case {
  const asked = PLANNED.map(({ mark }) => ({ id: `msg_${mark}`, mark }));
  return {
    planned: PLANNED,
    traces: new Map([1, 2].map((mark) => [mark, { firstSentAt: mark, answeredAt: mark + 0.5 }])),
    sessions: [{ id: "ses_1", asked, turns: [toTurn(1), toTurn(2)] }],
    log: [],
    chats: [{ platform: "slack", chat: 1, texts }],
    ...changes,
  };
}

const findAll = (evidence: Case): string => {
  const { lost, doubled, reordered, other } = judgeBots(evidence);
  return [...lost, ...doubled, ...reordered, ...other].join("\n");
};
const [session] = build().sessions as [Case["sessions"][number]];
const inSession = (changes: object): Case => build({ sessions: [{ ...session, ...changes }] });
const doubt = { kind: "reply_failed", reason: "in doubt: interrupted", turn_id: "trn_2" };

describe("the verdict on bots", () => {
  test("is clean where each delivery has one message, one turn and one reply in order", () => {
    expect(judgeBots(build())).toMatchObject({ turns: 2, replies: 2, failed: 0, doubtsMissing: 0 });
    expect(findAll(build())).toBe("");
  });

  test.each([
    ["a delivery without a message", inSession({ asked: session.asked.slice(1) }), /m1 .*has no message/],
    ["a message without a turn", inSession({ turns: session.turns.slice(1) }), /m1 .*began no turn/],
    ["a reply that is not there", build({}, [FIRST]), /m2 .*8 of 8 pieces of the reply are not there/],
    ["a part of a reply that is not there", build({}, [FIRST, SECOND.replace("m2p8", "")]), /m2 .*1 of 8/],
    ["a message twice", inSession({ asked: [...session.asked, { id: "msg_3", mark: 1 }] }), /m1 .*has 2 messages/],
    ["two turns of a message", inSession({ turns: [...session.turns, { ...toTurn(1), id: "trn_3" }] }), /m1 .*has 2 turns/],
    ["a reply twice", build({}, [FIRST, FIRST, SECOND]), /m1 .*more than once/],
    [
      "a reply in another chat",
      build({ chats: [...build({}, [SECOND]).chats, { platform: "slack", chat: 2, texts: [FIRST] }] }),
      /m1 .*in another chat/,
    ],
    ["replies out of order", build({}, [SECOND, FIRST]), /reply to m1 is behind that to m2/],
    ["messages out of order", inSession({ asked: session.asked.toReversed() }), /m1 was answered before m2 was sent/],
    ["words that are no reply", build({}, [FIRST, SECOND, "Too much is going on"]), /the bot said "Too much/],
    ["a line of the log that is no doubt", build({ log: [{ ...doubt, reason: "refused: no" }] }), /the log has reply_failed: refused/],
    [
      "a turn that failed without a word",
      inSession({ turns: [toTurn(1), { ...toTurn(2, "failed"), said: [] }] }),
      /0 apologies, and 1 turns failed/,
    ],
  ])("finds %s", (_, evidence, said) => {
    expect(findAll(evidence)).toMatch(said);
  });

  test("excuses what is not there by a doubt in the log, and nothing that is there twice", () => {
    expect(judgeBots(build({ log: [doubt] }, [FIRST]))).toMatchObject({ lost: [], doubtsMissing: 1, doubts: new Map([["slack", 1]]) });
    expect(findAll(build({ log: [doubt] }, [FIRST, SECOND, SECOND]))).toMatch(/m2 .*more than once/);
  });

  test("excuses a turn that was cut off with what it said and an apology", () => {
    const cut = inSession({ turns: [toTurn(1), { ...toTurn(2, "interrupted"), said: readPieces("m2p1") }] });
    const apology = "m2p1\n\nI could not answer just now. Please try again later.";
    expect(findAll({ ...cut, chats: [{ platform: "slack", chat: 1, texts: [FIRST, apology] }] })).toBe("");
    expect(findAll({ ...cut, chats: [{ platform: "slack", chat: 1, texts: [FIRST, apology.slice(6)] }] })).toMatch(/m2 .*1 of 1 pieces/);
  });
});

test("a seed always draws the same plan, with every platform, reply and failure", () => {
  const options = { deliveries: 2_000, seed: 3 };
  const planned = drawPlan(options, 60_000);
  expect(drawPlan(options, 60_000)).toEqual(planned);
  expect(new Set(planned.map(({ platform }) => platform)).size).toBe(4);
  expect(new Set(planned.map(({ kind }) => kind)).size).toBe(3);
  expect(new Set(planned.map(({ failure }) => failure)).size).toBe(6);
});
