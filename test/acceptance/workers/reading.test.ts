/** Reads of single things, end to end: one message, the list of turns, the pins. */
import { beforeAll, describe, expect, it } from "vitest";
import type { DisplayItem } from "../../../src/contract/item";
import type { List } from "../../../src/contract/page";
import type { PinsView } from "../../../src/contract/pin";
import type { SessionDescription } from "../../../src/contract/session";
import type { TurnReport } from "../../../src/contract/turn";
import { type Chat, migrate, newChat, readBody } from "../../workers/support";

beforeAll(migrate);

async function talked(): Promise<Chat> {
  const chat = await newChat({});
  for (const name of ["Rex", "Ada"]) {
    await chat.model.says({ text: `Noted: ${name}.` });
    await chat.say(`My dog is called ${name}.`);
  }
  return chat;
}

describe("one message", () => {
  it("is what the list has of it; an unknown one is a 404 that names the id", async () => {
    const chat = await talked();
    const items = await chat.items();
    for (const item of items) expect(await chat.read<DisplayItem>(`/messages/${item.id}`)).toEqual(item);

    const unknown = await chat.call("GET", "/messages/msg_01JD8Z3V6Q4N7R2T5W9X0Y1ABC");
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { errors: [{ field: "message_id" }] }]);
  });
});

describe("the turns", () => {
  it("come newest first, page by page", async () => {
    const chat = await talked();
    const first = await chat.read<List<TurnReport>>("/turns?limit=1");
    const rest = await chat.read<List<TurnReport>>(`/turns?limit=1&after=${first.next_cursor}`);
    const all = await chat.read<List<TurnReport>>("/turns?order=asc");

    expect([first.has_more, rest.has_more, rest.next_cursor]).toEqual([true, false, null]);
    expect([...rest.data, ...first.data]).toEqual(all.data);
    expect(await chat.read(`/turns/${first.next_cursor}`)).toEqual(first.data[0]);
    expect((await chat.call("GET", "/turns?after=7")).status).toBe(400);
  });
});

describe("pins", () => {
  it("of messages are in the session, can be set again as read, and go with the message", async () => {
    const chat = await talked();
    const [asked] = await chat.items();
    const set = await chat.call("PUT", "/pins", { pins: ["Be brief.", { message_id: asked?.id }, { position: 2 }] });
    const { pins } = await readBody<PinsView>(set);
    const read = await chat.call("GET", "/pins");

    expect(pins).toMatchObject([
      { text: "Be brief.", message_id: null, position: null },
      { text: "Message 1, user: My dog is called Rex.", message_id: asked?.id, position: 1 },
      { text: "Message 2, assistant: Noted: Rex.", position: 2 },
    ]);
    expect(read.headers.get("etag")).toBe(set.headers.get("etag"));
    const again = await chat.call("PUT", "/pins", await read.json(), { "If-Match": read.headers.get("etag") ?? "" });
    expect(again.headers.get("etag")).toBe(set.headers.get("etag"));
    expect((await chat.describe()).pins).toEqual(pins);

    await readBody(await chat.call("POST", `/messages/${asked?.id}/redact`));
    expect(await chat.read<PinsView>("/pins")).toEqual({ pins: [pins[0], pins[2]] });
    expect((await chat.call("PUT", "/pins", { pins: [] }, { "If-Match": set.headers.get("etag") ?? "" })).status).toBe(412);
  });

  it("go into a fork with its own ids", async () => {
    const chat = await talked();
    await chat.call("PUT", "/pins", { pins: [{ position: 1 }] });
    const { pins } = await readBody<SessionDescription>(await chat.call("POST", "/fork", {}), 201);

    expect(pins).toMatchObject([{ text: "Message 1, user: My dog is called Rex.", position: 1 }]);
    expect(pins[0]?.message_id).not.toBe((await chat.items())[0]?.id);
  });
});
