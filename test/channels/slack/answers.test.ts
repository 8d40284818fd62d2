import { describe, expect, test } from "vitest";
import type { OutboundAct } from "../../../src/app/channels/channel";
import { slack } from "../../../src/channels/slack/slack";

const place = { chat: "C1", thread: null, is_private: false, target: { channel: "C1", thread_ts: null } };
const send = (isPlain: boolean): OutboundAct => ({
  type: "send",
  operation: "op",
  place,
  text: { text: "a", plain: "a" },
  buttons: [],
  is_plain: isPlain,
});
const read = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}, isPlain = false) =>
  slack.read(send(isPlain), { status, headers: new Headers(headers), body: typeof body === "string" ? body : JSON.stringify(body) });
const error = (code: string, isPlain = false) => read(200, { ok: false, error: code }, {}, isPlain);

describe("an answer of Slack", () => {
  test("with `ok` says which message was sent", () => {
    expect(read(200, { ok: true, channel: "C1", ts: "1.2" })).toEqual({ kind: "done", message: "1.2" });
    expect(read(200, { ok: true })).toEqual({ kind: "done", message: null });
  });

  test.each([
    [{ "retry-after": "30" }, 30_000],
    [{ "retry-after": "0" }, 1_000],
    [{ "retry-after": "999999999" }, 3_600_000],
    [{ "retry-after": "soon" }, 5_000],
    [{}, 5_000],
  ])("of 429 with %j waits %i ms", (headers, ms) => {
    expect(read(429, "", headers)).toEqual({ kind: "rate_limited", retry_in_ms: ms });
    expect(read(200, { ok: false, error: "rate_limited" }, headers)).toEqual({ kind: "rate_limited", retry_in_ms: ms });
  });

  test.each([
    "channel_not_found",
    "not_in_channel",
    "is_archived",
    "invalid_auth",
    "account_inactive",
    "token_revoked",
    "message_not_found",
  ])("%s will never be taken", (code) => {
    expect(error(code)).toEqual({ kind: "refused", reason: code });
  });

  test.each(["msg_too_long", "invalid_blocks"])("%s asks for the plain text, and refuses a plain one", (code) => {
    expect(error(code)).toEqual({ kind: "bad_format", reason: code });
    expect(error(code, true)).toEqual({ kind: "refused", reason: code });
  });

  test.each(["internal_error", "fatal_error"])("%s may have been sent: Slack documents that some of it may have succeeded", (code) => {
    expect(error(code)).toEqual({ kind: "unknown", reason: code });
  });

  test.each(["service_unavailable", "request_timeout", "team_added_to_org", "something_new"])(
    "%s was not sent, and may be later",
    (code) => {
      expect(error(code)).toEqual({ kind: "failed", reason: code });
    },
  );

  test.each([
    [500, "<html>", "unknown"],
    [503, "", "unknown"],
    [408, "", "unknown"],
    [200, "<html>", "unknown"],
    [200, "null", "unknown"],
    [404, "<html>", "refused"],
  ])("of status %i with the body %j is %s", (status, body, kind) => {
    expect(read(status, body)).toMatchObject({ kind });
  });

  test("that never came may have been sent", () => {
    expect(slack.read(send(false), null)).toEqual({ kind: "unknown", reason: "no answer" });
  });

  test("with another text than a code is not repeated in the reason", () => {
    expect(error("secret text of a message")).toEqual({ kind: "failed", reason: "an error without a code" });
  });
});
