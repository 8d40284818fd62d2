/** Files in conversations: what a message accepts, what the model is sent, and what becomes of a file. */
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { PastContext } from "../../../src/contract/context";
import type { FileView } from "../../../src/contract/file";
import type { DisplayItem } from "../../../src/contract/item";
import type { List, Page } from "../../../src/contract/page";
import type { SessionDescription } from "../../../src/contract/session";
import { ringNow } from "../../workers/alarms";
import { pdf, png, text, upload } from "../../workers/files";
import { Chat, migrate, newChat, newId, newTenant, readBody, request, type Tenant } from "../../workers/support";

beforeAll(migrate);

const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));
const say = (chat: Chat, ...content: object[]) => chat.call("POST", "/messages", { content });
const readFile = async (chat: Chat, id: string): Promise<FileView | null> => {
  const found = await chat.tenant.call("GET", `/v1/files/${id}`);
  return found.status === 404 ? null : readBody<FileView>(found);
};
/** The last request that the model received. */
const sentTo = async (chat: Chat): Promise<string> => JSON.stringify((await chat.model.heard(1)).at(-1)?.body);
const listIds = async (chat: Chat): Promise<string[]> =>
  (await readBody<List<FileView>>(await chat.tenant.call("GET", "/v1/files"))).data.map(({ id }) => id);
const makeToken = async (tenant: Tenant, reach: object): Promise<string> =>
  (await readBody<{ token: string }>(await tenant.call("POST", "/v1/tokens", reach), 201)).token;

/** The session tells the tenant's object by its alarm, which may have rung already. */
const settle = async (chat: Chat): Promise<void> => void (await ringNow(chat.stub));

describe("a message with a file", () => {
  it("is sent to the model with the content, and shown with the file's id alone", async () => {
    const chat = await newChat({ replies: [{ text: "A picture." }] });
    const file = await upload(chat.tenant, png("Ada"));

    await readBody(await say(chat, { type: "text", text: "What is this?" }, { type: "image", file_id: file.id }));

    expect(await sentTo(chat)).toContain(`data:image/png;base64,${toBase64(png("Ada"))}`);
    const [item] = await chat.items();
    const part = { type: "image", file_id: file.id, media_type: "image/png", name: "a file", bytes: file.bytes };
    expect(item?.content).toEqual([{ type: "text", text: "What is this?" }, expect.objectContaining(part)]);
    expect(JSON.stringify(await chat.events())).not.toContain("base64");
  });

  it("gives a text to every model as text", async () => {
    const chat = await newChat({ replies: [{ text: "Ada is 36." }] });
    const file = await upload(chat.tenant, text("name,age\nAda,36\n"), "text/csv");

    await readBody(await say(chat, { type: "file", file_id: file.id }));

    expect(await sentTo(chat)).toContain(JSON.stringify("name,age\nAda,36\n").slice(1, -1));
  });

  it("names a file that the model cannot read", async () => {
    const chat = await newChat({ replies: [{ text: "I cannot read it." }] });
    const file = await upload(chat.tenant, pdf(2));

    await readBody(await say(chat, { type: "file", file_id: file.id, name: "plan.pdf" }));

    expect(await sentTo(chat)).toContain("[file: plan.pdf (application/pdf)]");
  });

  it("that is given as a data URL becomes a stored file", async () => {
    const chat = await newChat({ replies: [{ text: "A picture." }] });

    await readBody(await say(chat, { type: "image", url: `data:image/png;base64,${toBase64(png("inline"))}` }));

    expect(await sentTo(chat)).toContain(toBase64(png("inline")));
    const [item] = await chat.items();
    expect(item?.content[0]).toMatchObject({ type: "image", file_id: expect.stringMatching(/^fil_/), media_type: "image/png" });
  });

  it("goes to another session as it is shown, in a batch; a file that does not exist refuses the whole batch", async () => {
    const chat = await newChat({ replies: [{ text: "A picture." }] });
    const file = await upload(chat.tenant, png("Ada"));
    await readBody(await say(chat, { type: "image", file_id: file.id }));
    const shown = await chat.items();
    const { id } = await readBody<{ id: string }>(await chat.tenant.call("POST", "/v1/sessions", {}), 201);
    const send = (items: readonly object[]) => chat.tenant.call("POST", `/v1/sessions/${id}/messages/batch`, { items });
    const readBack = async () =>
      (await readBody<{ data: { content: object[] }[] }>(await chat.tenant.call("GET", `/v1/sessions/${id}/messages`))).data;

    const missing = { role: "user", content: [{ type: "image", file_id: newId("fil") }] };
    const problem = await readBody<{ errors: object[] }>(await send([...shown, missing]), 400);
    expect(problem.errors).toEqual([{ field: `items.${shown.length}.content.0.file_id`, detail: "no such file" }]);
    expect(await readBack()).toEqual([]);

    await readBody(await send(shown), 201);
    expect((await readBack()).map(({ content }) => content)).toEqual(shown.map(({ content }) => content));
  });

  it("is refused by the field at fault when there is no such file, and nothing is accepted", async () => {
    const chat = await newChat();
    const foreign = await upload(await newTenant(), png());
    const words = { type: "text", text: "Look." };

    for (const file_id of [newId("fil"), foreign.id]) {
      const problem = await readBody<{ errors: object[] }>(await say(chat, words, { type: "image", file_id }), 400);
      expect(problem.errors).toEqual([{ field: "content.1.file_id", detail: "no such file" }]);
    }
    const fault = await readBody<{ errors: object[] }>(await say(chat, words, { type: "image", url: "data:image/png;base64,iVB?" }), 400);
    expect(fault.errors).toEqual([{ field: "content.1.url", detail: "not base64" }]);
    expect((await say(chat, { type: "image", url: `data:image/png;base64,${toBase64(pdf(1))}` })).status).toBe(415);
    expect((await say(chat, { type: "image" })).status).toBe(400);
    expect(await chat.items()).toEqual([]);
  });

  it("is rebuilt byte for byte as it was sent", async () => {
    const chat = await newChat({ replies: [{ text: "A picture." }] });
    const file = await upload(chat.tenant, png("past"));
    const { id } = await readBody<{ id: string }>(await say(chat, { type: "image", file_id: file.id }));

    const past = await chat.read<PastContext>(`/context?at=${id}`);

    expect(past.digest).toMatchObject({ matches: true });
    expect(past.request.body).toContain(toBase64(png("past")));
  });
});

describe("a file that was deleted", () => {
  it("is named as such, and the conversation goes on", async () => {
    const chat = await newChat({ replies: [{ text: "A picture." }, { text: "It is gone." }] });
    const file = await upload(chat.tenant, png("brief"));
    await readBody(await say(chat, { type: "image", file_id: file.id }));
    await chat.tenant.call("DELETE", `/v1/files/${file.id}`);

    const turn = await chat.say("What was it?");

    expect(turn.status).toBe("completed");
    expect(await sentTo(chat)).toContain("[file: a file (image/png), deleted since]");
  });
});

describe("a file of a message", () => {
  it("is counted for its session, goes on with a fork, and ends with the last of them", async () => {
    const chat = await newChat({ replies: [{ text: "A picture." }] });
    const file = await upload(chat.tenant, png("shared"));
    await readBody(await say(chat, { type: "image", file_id: file.id }));
    await settle(chat);
    await expect.poll(() => readFile(chat, file.id)).toMatchObject({ sessions: 1, expires_at: null });
    const fork = await readBody<SessionDescription>(await chat.call("POST", "/fork", {}), 201);
    const copy = new Chat(chat.tenant, fork.id, chat.model);
    await settle(copy);
    await expect.poll(() => readFile(chat, file.id)).toMatchObject({ sessions: 2 });

    await readBody(await chat.call("DELETE"));
    expect(await readFile(chat, file.id)).toMatchObject({ sessions: 1 });
    const receipt = await readBody<{ stores: object[] }>(await copy.call("DELETE"));

    expect(receipt.stores).toContainEqual({ store: "files", status: "erased", rows: 1 });
    expect(await readFile(chat, file.id)).toBeNull();
  });

  it("ends when the only message that names it is redacted", async () => {
    const chat = await newChat({ replies: [{ text: "A picture." }] });
    const file = await upload(chat.tenant, png("secret"));
    await readBody(await say(chat, { type: "image", file_id: file.id }));
    const [item] = await chat.items();

    await readBody(await chat.call("POST", `/messages/${item?.id}/redact`, {}));
    await settle(chat);

    await vi.waitFor(async () => expect(await readFile(chat, file.id)).toBeNull());
  });
});

describe("a batch whose messages name files", () => {
  it("of 1,000 messages is accepted whole, and each shows its file", async () => {
    const chat = await newChat();
    const files: FileView[] = [];
    for (let number = 0; number < 20; number++) files.push(await upload(chat.tenant, png(`${number}`)));
    const items = Array.from({ length: 1_000 }, (_, index) => ({
      role: "user",
      content: [
        { type: "text", text: `picture ${index}` },
        { type: "image", file_id: files[index % files.length]?.id },
      ],
    }));

    await readBody(await chat.call("POST", "/messages/batch", { items }), 201);

    await settle(chat);
    await expect.poll(() => readFile(chat, files[0]?.id ?? "")).toMatchObject({ sessions: 1, expires_at: null });
    const page = await chat.read<Page<DisplayItem>>("/messages?limit=3&order=desc");
    expect(page.data.map(({ content }) => content[1])).toEqual([
      expect.objectContaining({ file_id: files[19]?.id, media_type: "image/png" }),
      expect.objectContaining({ file_id: files[18]?.id }),
      expect.objectContaining({ file_id: files[17]?.id }),
    ]);
  });

  it("takes data URLs, at most 128 of them, and stores nothing when a message names no file", async () => {
    const chat = await newChat();
    const item = (mark: string) => ({ content: [{ type: "image", url: `data:image/png;base64,${toBase64(png(mark))}` }] });
    const send = (items: readonly object[]) => chat.call("POST", "/messages/batch", { items });

    const many = Array.from({ length: 129 }, (_, index) => item(`${index}`));
    const problem = await readBody<{ errors: object[] }>(await send(many), 400);
    expect(problem.errors).toEqual([{ field: "items.128.content.0.url", detail: "at most 128 data URLs in one request" }]);
    const missing = { content: [{ type: "image", file_id: newId("fil") }] };
    expect((await send([item("a"), missing])).status).toBe(400);
    expect(await listIds(chat)).toEqual([]);

    await readBody(await send([item("a"), item("b")]), 201);
    expect(await listIds(chat)).toHaveLength(2);
  });
});

describe("an access token", () => {
  it("names no file that its session does not refer to, and its message leaves nothing", async () => {
    const chat = await newChat({ replies: [{ text: "A picture." }, { text: "The same." }] });
    const other = await newChat({ tenant: chat.tenant });
    const [own, foreign, unused] = [
      await upload(chat.tenant, png("own")),
      await upload(chat.tenant, png("another person's")),
      await upload(chat.tenant, png("unused")),
    ];
    await readBody(await say(chat, { type: "image", file_id: own.id }));
    await readBody(await other.call("POST", "/messages", { content: [{ type: "image", file_id: foreign.id }] }));
    await settle(other);
    await expect.poll(() => readFile(chat, foreign.id)).toMatchObject({ sessions: 1, expires_at: null });
    const key = await makeToken(chat.tenant, { session_id: chat.id });
    const send = (file_id: string) =>
      request("POST", `/v1/sessions/${chat.id}/messages`, { key, body: { content: [{ type: "image", file_id }] } });

    for (const file of [foreign, unused]) {
      const problem = await readBody<{ errors: object[] }>(await send(file.id), 400);
      expect(problem.errors).toEqual([{ field: "content.0.file_id", detail: "no such file" }]);
      const [message] = await chat.items();
      const edit = { key, body: { content: [{ type: "image", file_id: file.id }] } };
      expect((await request("POST", `/v1/sessions/${chat.id}/messages/${message?.id}/edit`, edit)).status).toBe(400);
    }
    expect(await readFile(chat, foreign.id)).toMatchObject({ sessions: 1 });
    expect(await readFile(chat, unused.id)).toMatchObject({ sessions: 0, expires_at: unused.expires_at });
    expect(JSON.stringify(await chat.model.heard())).not.toContain(toBase64(png("another person's")));

    await readBody(await send(own.id));
    expect(await sentTo(chat)).toContain(toBase64(png("own")));
  });

  it("sends a data URL, and reads no file by its id", async () => {
    const chat = await newChat({ replies: [{ text: "A picture." }] });
    const key = await makeToken(chat.tenant, { session_id: chat.id });
    const body = { content: [{ type: "image", url: `data:image/png;base64,${toBase64(png("mine"))}` }] };

    await readBody(await request("POST", `/v1/sessions/${chat.id}/messages`, { key, body }));

    expect(await sentTo(chat)).toContain(toBase64(png("mine")));
    const [file] = await listIds(chat);
    for (const path of ["", `/${file}`, `/${file}/content`]) expect((await request("GET", `/v1/files${path}`, { key })).status).toBe(403);
    expect((await request("POST", `/v1/files/${file}/url`, { key, body: {} })).status).toBe(403);
    expect((await request("DELETE", `/v1/files/${file}`, { key })).status).toBe(403);
    expect((await request("POST", "/v1/files", { key, body: png("x") })).status).toBe(403);
  });

  it("of an end user stores nothing by way of a session that is not theirs", async () => {
    const chat = await newChat();
    const key = await makeToken(chat.tenant, { end_user: "ada" });
    const body = { content: [{ type: "image", url: `data:image/png;base64,${toBase64(png("ada"))}` }] };

    expect((await request("POST", `/v1/sessions/${chat.id}/messages`, { key, body })).status).toBe(404);

    expect(await listIds(chat)).toEqual([]);
  });
});
