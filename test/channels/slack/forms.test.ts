import { describe, expect, test } from "vitest";
import { form, onlyDelivery, parse } from "./support";

const slash = (command: string, text: string, more: Readonly<Record<string, string>> = {}) =>
  form({
    command,
    text,
    trigger_id: "13345224609.738474920.8088930838d88f008e0",
    channel_id: "C1",
    channel_name: "general",
    user_id: "U1",
    user_name: "ada",
    ...more,
  });

describe("slash commands", () => {
  test("a question is a message, and Slack shows it in the channel", () => {
    const parsed = parse(slash("/ask", "what is &lt;b&gt;?"));
    expect(parsed).toMatchObject({ kind: "deliveries", answer: { status: 200, json: { response_type: "in_channel" } } });
    expect(onlyDelivery(parsed)).toEqual({
      id: "13345224609.738474920.8088930838d88f008e0",
      place: { chat: "C1", thread: null, is_private: false, target: { channel: "C1", thread_ts: null } },
      user: { id: "U1", name: "ada", language: null },
      at: 1_764_000_000_000,
      event: {
        type: "message",
        message: "13345224609.738474920.8088930838d88f008e0",
        text: "what is <b>?",
        files: [],
        command: null,
        is_addressed: true,
      },
    });
  });

  test.each([
    ["/reset", "", { name: "reset", args: "" }],
    ["/Compact", "now", { name: "compact", args: "now" }],
    ["/ask", "reset", { name: "reset", args: "" }],
    ["/ask", "", { name: "help", args: "" }],
    ["/ask", "reset my router", null],
    ["/ask", "constructor", null],
    ["/constructor", "x", null],
  ])("%s %s is the command %j", (command, text, expected) => {
    const parsed = parse(slash(command, text));
    expect(onlyDelivery(parsed).event).toMatchObject({ command: expected });
    if (expected) expect(parsed).toMatchObject({ answer: { status: 200 } });
  });

  test("a command in a direct message is private", () => {
    const { place } = onlyDelivery(parse(slash("/ask", "hello", { channel_id: "D1", channel_name: "directmessage" })));
    expect(place).toMatchObject({ is_private: true, thread: null });
  });

  test("one without a field is malformed, and the field is named", () => {
    expect(parse(slash("/ask", "x", { user_id: "" }))).toMatchObject({
      kind: "malformed",
      detail: "user_id: is missing, or not as Slack documents it",
    });
  });

  test("Slack's check of the certificate is answered", () => {
    expect(parse(form({ ssl_check: "1", token: "t" }))).toEqual({ kind: "handshake", answer: { status: 200 } });
  });
});

describe("buttons", () => {
  const press = (more: object = {}) => ({
    type: "block_actions",
    trigger_id: "1.2.3",
    user: { id: "U1", username: "ada" },
    channel: { id: "C1", name: "general" },
    container: { type: "message", message_ts: "1764000000.000200", channel_id: "C1" },
    message: { ts: "1764000000.000200", thread_ts: "1764000000.000100" },
    actions: [{ type: "button", action_id: "button_0", value: "undo:1", action_ts: "1764000003.500000" }],
    ...more,
  });
  const read = (payload: object) => onlyDelivery(parse(form({ payload: JSON.stringify(payload) })));

  test("a press says which message has the button, and what it was sent with", () => {
    expect(read(press())).toEqual({
      id: "1.2.3",
      place: { chat: "C1", thread: "1764000000.000100", is_private: false, target: { channel: "C1", thread_ts: "1764000000.000100" } },
      user: { id: "U1", name: "ada", language: null },
      at: 1_764_000_003_500,
      event: { type: "button", message: "1764000000.000200", data: "undo:1" },
    });
  });

  test("a button outside of a thread is in none, also when its message has replies", () => {
    expect(read(press({ message: { ts: "1764000000.000200" } })).place.thread).toBeNull();
    expect(read(press({ message: { ts: "1764000000.000200", thread_ts: "1764000000.000200" } })).place.thread).toBeNull();
  });

  test("other interactions are ignored, and one that is no JSON is malformed", () => {
    expect(parse(form({ payload: JSON.stringify({ type: "view_submission" }) }))).toMatchObject({
      kind: "ignored",
      answer: { status: 200 },
    });
    expect(parse(form({ payload: "{" }))).toMatchObject({ kind: "malformed" });
    expect(parse(form({ payload: JSON.stringify(press({ actions: [] })) }))).toMatchObject({ kind: "malformed" });
  });
});
