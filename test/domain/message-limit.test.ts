import { describe, expect, it } from "vitest";
import { refuseMessages } from "../../src/domain/message-limit";
import { initialState } from "../../src/domain/state";
import { draft } from "../support/builders";

const waiting = (count: number) =>
  Array.from({ length: count }, () => ({ item: draft(1, { kind: "user" }), rest: [], turn: null, tools: null }));
const state = (messages: number, queued = 0) => ({ ...initialState, messages, queue: waiting(queued) });

describe("a limit of messages", () => {
  it("takes as many as it allows, those of the branch and those that wait together", () => {
    const [one, two] = [[draft(1, { kind: "user" })], [draft(1, { kind: "user" }), draft(1, { kind: "assistant" })]];

    expect(refuseMessages(one, state(2), { messageLimit: 3 })).toBeNull();
    expect(refuseMessages(one, state(1, 1), { messageLimit: 3 })).toBeNull();
    expect(refuseMessages(one, state(1, 2), { messageLimit: 3 })).toEqual({ code: "message_limit", limit: 3 });
    expect(refuseMessages(two, state(2), { messageLimit: 3 })).toEqual({ code: "message_limit", limit: 3 });
  });

  it("counts no calls and results, and refuses nothing where there is none", () => {
    expect(refuseMessages([draft(1, { kind: "tool_result" })], state(9), { messageLimit: 3 })).toBeNull();
    expect(refuseMessages([draft(1, { kind: "user" })], state(9), { messageLimit: null })).toBeNull();
    expect(refuseMessages([draft(1, { kind: "user" })], state(9), {})).toBeNull();
  });

  it("of 0 allows nothing", () => {
    expect(refuseMessages([draft(1, { kind: "system" })], state(0), { messageLimit: 0 })).toEqual({ code: "message_limit", limit: 0 });
  });
});
