/** What the types of the client refuse. `npm run check` reads this file; nothing runs it. */
import type { Item, Longhand, Session, StreamFrame, Turn } from "../../packages/client/src/client.ts";

declare const longhand: Longhand;
const id = "ses_01JD8Z3V6Q4N7R2T5W9X0Y1ABC";
const path = { session_id: id };

export async function takesWhatIsDocumented(): Promise<void> {
  const created: Session = await longhand.post("/v1/sessions", { body: { title: "支持" }, idempotencyKey: "k" });
  await longhand.post("/v1/sessions");
  const read: Session = await longhand.get("/v1/sessions/{session_id}", { path });
  const gone: undefined = await longhand.delete("/v1/tools/{tool_name}", { path: { tool_name: "t" }, ifMatch: '"1"' });
  const bytes: Blob = await longhand.get("/v1/files/{file_id}/content", { path: { file_id: "fil_1" } });
  await longhand.post("/v1/files", { query: { name: "a.txt" }, body: new Uint8Array([65]) });
  await longhand.get("/v1/sessions", { query: { limit: 5, metadata: { colour: "red" } } });
  const { data, etag } = await longhand.request("PATCH", "/v1/tenant", { body: {}, ifMatch: '"1"' });
  const turn: Turn = await longhand.send(created.id, "Hello.", { signal: AbortSignal.timeout(1_000) });
  await longhand.send(read.id, { content: "Hello.", metadata: { from: "a test" } });
  await longhand.respond(read.id, { after: turn.id, messages: [{ content: "And now?" }] }).turn();
  for await (const message of longhand.list("/v1/sessions/{session_id}/messages", { path })) {
    const item: Item = message;
    // An item is read as it is written.
    await longhand.post("/v1/sessions/{session_id}/messages", { path, body: { ...item, run: false } });
  }
  for await (const found of longhand.list("/v1/sessions/search", { body: { query: "dog" } }))
    found.matches.map(({ snippet }) => snippet satisfies string);
  for await (const page of longhand.pages("/v1/usage")) page.from satisfies number;
  void [gone, bytes, data.id, etag satisfies string | null, turn.output_text satisfies string];
}

export async function refusesTheRest(): Promise<void> {
  // @ts-expect-error: a path that no operation has
  await longhand.get("/v1/session");
  // @ts-expect-error: a path that knows other methods only
  await longhand.put("/v1/sessions", { body: {} });
  // @ts-expect-error: the path needs an id
  await longhand.get("/v1/sessions/{session_id}");
  // @ts-expect-error: the id has another name
  await longhand.get("/v1/sessions/{session_id}", { path: { id } });
  // @ts-expect-error: an unknown field of the body
  await longhand.post("/v1/sessions", { body: { titel: "Support" } });
  // @ts-expect-error: a body that is needed
  await longhand.post("/v1/sessions/{session_id}/messages", { path });
  // @ts-expect-error: an unknown field of the query
  await longhand.get("/v1/sessions", { query: { colour: "red" } });
  // @ts-expect-error: a query of an operation that has none
  await longhand.get("/v1/tenant", { query: { limit: 5 } });
  // @ts-expect-error: a needed field of the query is missing
  await longhand.get("/v1/sessions/{session_id}/context/diff", { path, query: { from: "now" } });
  // @ts-expect-error: a key where the operation takes none
  await longhand.post("/v1/tokens", { body: {}, idempotencyKey: "k" });
  // @ts-expect-error: a condition where the operation takes none
  await longhand.get("/v1/tenant", { ifMatch: '"1"' });
  // @ts-expect-error: not a list
  for await (const _ of longhand.list("/v1/tenant")) return;
  // @ts-expect-error: a message that is only appended has no turn
  await longhand.send(id, { content: "Hello.", run: false });
  // @ts-expect-error: what is only recorded has no turn
  longhand.respond(id, { messages: [{ content: "Hello." }], run: false });
  // @ts-expect-error: a stream is not one answer
  await longhand.get("/v1/sessions/{session_id}/stream", { path });
}

/** The type of an event narrows what it has. */
export const readText = (event: StreamFrame): string => (event.type === "text.delta" ? event.text : "");
