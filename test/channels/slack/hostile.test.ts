import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BOT, callback, form, parse, post } from "./support";

const KINDS = ["handshake", "ignored", "deliveries", "malformed"];

/** JSON in which fields that Slack sends have any value. */
const value = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(
    "",
    "C1",
    "U1",
    BOT,
    "1764000000.000100",
    "im",
    "message_changed",
    "message_deleted",
    "tombstone",
    `<@${BOT}> hi`,
    null,
    [],
    {},
  ),
);
const message = fc.dictionary(
  fc.constantFrom(
    "type",
    "subtype",
    "channel",
    "channel_type",
    "user",
    "bot_id",
    "text",
    "ts",
    "thread_ts",
    "event_ts",
    "files",
    "deleted_ts",
  ),
  value,
);
const nested = fc
  .tuple(message, message, message)
  .map(([event, changed, before]) => ({ type: "message", ...event, message: changed, previous_message: before }));
const interaction = fc.dictionary(fc.constantFrom("type", "trigger_id", "user", "channel", "container", "message", "actions"), value);

describe("whatever arrives, parsing it never throws", () => {
  test("any bytes, as JSON or as a form", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.constantFrom("application/json", "application/x-www-form-urlencoded", ""),
        (bytes, type) => {
          expect(KINDS).toContain(parse(post(bytes, { type })).kind);
        },
      ),
    );
  });

  test("any JSON, and any event", () => {
    fc.assert(fc.property(fc.json(), (json) => void expect(KINDS).toContain(parse(post(json)).kind)));
    fc.assert(fc.property(nested, (event) => void expect(KINDS).toContain(parse(post(callback(event))).kind)));
  });

  test("any form, and any interaction", () => {
    const fields = fc.dictionary(
      fc.constantFrom("command", "text", "trigger_id", "channel_id", "user_id", "payload", "ssl_check"),
      fc.string(),
    );
    fc.assert(fc.property(fields, (given) => void expect(KINDS).toContain(parse(form(given)).kind)));
    fc.assert(
      fc.property(interaction, (given) => {
        expect(KINDS).toContain(parse(form({ payload: JSON.stringify({ type: "block_actions", ...given }) })).kind);
      }),
    );
  });

  test("a delivery of any text has a place, a user, a time and an id", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        const event = { type: "message", channel: "D1", channel_type: "im", user: "U1", ts: "1764000000.000100", text };
        const parsed = parse(post(callback(event)));
        expect(parsed).toMatchObject({ kind: "deliveries", deliveries: [{ id: "D1:1764000000.000100", user: { id: "U1" } }] });
      }),
    );
  });

  test("deep nesting", () => {
    expect(parse(post("[".repeat(200_000))).kind).toBe("malformed");
    expect(parse(post(callback({ type: "message" }).replace('"message"', `${"[".repeat(100_000)}${"]".repeat(100_000)}`))).kind).toBe(
      "malformed",
    );
  });
});
