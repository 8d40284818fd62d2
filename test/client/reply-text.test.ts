/** The text of a reply so far: every event that changes it, and every break. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Item, StreamEvent } from "../../packages/client/src/client.ts";
import { ReplyText } from "../../packages/client/src/reply-text.ts";

const TURN = "trn_01JD8Z3V6Q4N7R2T5W9X0Y1ABC";
const MESSAGE = "msg_01JD8Z3V6Q4N7R2T5W9X0Y1ABC";
const started = (attempt: number) => ({ type: "turn.started", turn_id: TURN, attempt, message_id: null, position: null }) as const;
const delta = (text: string) => ({ type: "text.delta", turn_id: TURN, message_id: MESSAGE, text }) as const;
const resumed = { type: "turn.resumed", turn_id: TURN } as const;

const item: Item = {
  id: "msg_01JD8Z3V6Q4N7R2T5W9X0Y1ABC",
  position: 2,
  role: "assistant",
  content: [],
  name: null,
  client_id: null,
  metadata: {},
  turn_id: TURN,
  created_at: 0,
  recorded_at: 0,
  incomplete: false,
  tokens: { tokens: 0, source: "estimated", error_bound: 0 },
};

function completed(text: string, role: "assistant" | "tool" = "assistant") {
  const content: Item["content"] = [
    { type: "reasoning", text: "hm" },
    { type: "text", text },
  ];
  return { type: "item.completed", turn_id: TURN, item: { ...item, role, content } } as const;
}

type Told = StreamEvent extends infer E ? (E extends StreamEvent ? Omit<E, "offset"> : never) : never;

/** Notes events at offsets 1, 2, …; a rewind goes back to the offset that it names. */
function tell(...events: readonly Told[]): ReplyText {
  const reply = new ReplyText();
  for (const [index, event] of events.entries()) reply.note({ ...event, offset: index + 1 } as StreamEvent);
  return reply;
}

describe("the text of a reply", () => {
  test.each<[string, readonly Told[], string]>([
    ["deltas in order", [started(1), delta("你"), delta("好")], "你好"],
    ["the recorded reply in place of its deltas", [started(1), delta("Hel"), completed("Hello.")], "Hello."],
    ["nothing after a higher attempt began", [started(1), delta("Hel"), started(2)], ""],
    ["the higher attempt's deltas", [started(1), delta("Hel"), started(2), delta("Bye")], "Bye"],
    ["the same after a start that is told again", [started(1), delta("Hel"), started(1), delta("lo")], "Hello"],
    [
      "the newest reply of a turn with tools",
      [completed("Let me look."), completed("9 °C", "tool"), resumed, delta("It is 9.")],
      "It is 9.",
    ],
    ["the reply before, while its tools run", [completed("Let me look."), completed("9 °C", "tool"), resumed], "Let me look."],
    ["what was before a rewind", [delta("a"), delta("b"), delta("c"), { type: "stream.rewind", to: 2 }], "ab"],
    ["what follows a rewind", [delta("a"), delta("b"), { type: "stream.rewind", to: 1 }, delta("x")], "ax"],
    ["an unfinished reply again when its completion is rewound", [delta("a"), completed("all"), { type: "stream.rewind", to: 1 }], "a"],
    ["no deltas behind a gap, since some are missing", [delta("a"), { type: "stream.gap", to: 9 }, delta("z")], "a"],
    ["the whole reply that follows a gap", [delta("a"), { type: "stream.gap", to: 9 }, delta("z"), completed("a to z")], "a to z"],
  ])("is %s", (_, events, text) => {
    expect(tell(...events).text).toBe(text);
  });

  test("is what its deltas say when the recorded reply is too large for an event", () => {
    const reply = tell(started(1), delta("very "), delta("long"));
    expect(reply.isWhole).toBe(true);
    reply.note({ type: "item.completed", turn_id: TURN, item, content_omitted: true, offset: 9 });
    expect(reply.text).toBe("very long");
  });

  test.each([
    ["is the record's after a gap", { attempt: 1, text: "recorded" }, "recorded"],
    ["stays after a gap in an answer that is not recorded yet", { attempt: 1, text: null }, "part"],
    ["is empty after a gap that hid a new attempt", { attempt: 2, text: null }, ""],
  ])("%s", (_, recorded, text) => {
    const reply = tell(started(1), delta("part"), { type: "stream.gap", to: 9 });
    reply.mend(9, recorded);
    reply.note({ ...delta("lost neighbours"), offset: 10 });
    expect(reply.text).toBe(text);
  });

  const step = fc.oneof(
    { weight: 6, arbitrary: fc.string({ unit: "grapheme", maxLength: 4 }).map((text): Told => delta(text)) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 4 }).map((attempt): Told => started(attempt)) },
    { weight: 1, arbitrary: fc.string().map((text): Told => completed(text)) },
    { weight: 1, arbitrary: fc.constant<Told>(resumed) },
    { weight: 1, arbitrary: fc.constant<Told>({ type: "stream.gap", to: 0 }) },
    { weight: 3, arbitrary: fc.nat().map((to): Told => ({ type: "stream.rewind", to })) },
  );

  test("after any rewinds is what the events that remain say alone", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const reply = new ReplyText();
        let remaining: StreamEvent[] = [];
        let offset = 0;
        for (const told of steps) {
          if (told.type === "stream.rewind") {
            const to = told.to % (offset + 1);
            remaining = remaining.filter((event) => event.offset <= to);
            reply.note({ ...told, to, offset: to });
          } else {
            const event = { ...told, offset: ++offset } as StreamEvent;
            remaining.push(event);
            reply.note(event);
          }
          const alone = new ReplyText();
          for (const event of remaining) alone.note(event);
          expect(reply.text).toBe(alone.text);
        }
      }),
    );
  });
});
