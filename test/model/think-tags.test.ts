/** Thinking between tags, in whatever pieces it comes. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ThinkTags } from "../../src/model/think-tags";

/** What is told of a reply that comes in pieces which end at these places. */
function tell(reply: string, ends: readonly number[]): { readonly reasoning: string; readonly text: string } {
  const tags = new ThinkTags();
  const places = [0, ...ends.toSorted((a, b) => a - b), reply.length];
  const told = places.flatMap((end, index) => tags.take(reply.slice(places[index - 1] ?? 0, end))).concat(tags.end());
  const join = (type: "reasoning" | "text"): string => told.map((part) => (part.type === type ? part.text : "")).join("");
  return { reasoning: join("reasoning"), text: join("text") };
}

describe("a reply", () => {
  test.each([
    ["that thinks first", "<think>I look.</think>\n\nFound.", "I look.", "Found."],
    ["that begins with white space", " \n<think>I look.</think>Found.", "I look.", "Found."],
    ["that speaks of the tag", "Write <think>so</think>.", "", "Write <think>so</think>."],
    ["that speaks of it after its thinking", "<think>a</think>b </think> <think>c", "a", "b </think> <think>c"],
    ["that ends in its thinking", "<think>I look", "I look", ""],
    ["that ends in half a tag", "<think>a</thi", "a</thi", ""],
    ["that only begins like one", "<thin ice>", "", "<thin ice>"],
    ["that is half of the tag", "<thi", "", "<thi"],
    ["that thinks of nothing", "<think></think>Found.", "", "Found."],
    ["of nothing", "", "", ""],
  ])("%s is told apart, however it is cut", (_, reply, reasoning, text) => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: reply.length }), { maxLength: 12 }), (ends) => {
        expect(tell(reply, ends)).toEqual({ reasoning, text });
      }),
    );
    expect(
      tell(
        reply,
        [...reply].map((_, place) => place),
      ),
    ).toEqual({ reasoning, text });
  });
});
