/** Every act in a session that leaves an entry in the tenant's audit log, done once. */
import type { CompactionView } from "../../src/contract/compaction";
import { words } from "./conversation";
import { type Chat, newChat, readBody, type Tenant } from "./support";

/** Requested, and made by the queue's worker. */
async function draft(chat: Chat): Promise<string> {
  const frames = await chat.listen(0);
  const { id } = await readBody<CompactionView>(await chat.call("POST", "/compactions", { draft: true, keep_recent: 500 }), 202);
  await frames.until("compaction.drafted", (frame) => frame.compaction_id === id);
  await frames.leave();
  return id;
}

/** `planted`: a text that goes wherever a client's own words go. */
export async function actInSession(tenant: Tenant, planted: string): Promise<Chat> {
  const summaries = [{ text: words(60, "FIRST") }, { text: words(60, "SECOND") }, { text: words(60, "THIRD") }];
  const chat = await newChat({ tenant, window: 32_000, summaries });
  for (let turn = 1; turn <= 5; turn++) {
    await chat.model.says({ text: words(200, `reply-${turn}`) });
    await chat.say(words(150, `${planted}-${turn}`));
  }
  await readBody(await chat.call("PATCH", "", { title: planted, metadata: { [planted]: planted } }));
  await readBody(await chat.call("PUT", "/pins", { pins: [planted] }));
  await readBody(await chat.call("PUT", "/schedules/briefing", { cron: "0 9 * * *", message: planted }));
  await chat.call("DELETE", "/schedules/briefing");
  await chat.call("DELETE", `/compactions/${await draft(chat)}`);
  const second = await draft(chat);
  await readBody(await chat.call("PATCH", `/compactions/${second}`, { summary: planted, edits: 0 }));
  await readBody(await chat.call("POST", `/compactions/${second}/commit`));
  await readBody(await chat.call("POST", `/compactions/${second}/revert`));
  const third = await draft(chat);
  await readBody(await chat.call("POST", `/compactions/${third}/commit`));
  await chat.call("DELETE", "/summary");
  const [first] = await chat.items();
  await readBody(await chat.call("POST", `/messages/${first?.id}/redact`));
  await readBody(await chat.call("POST", "/branches", { to: 4 }), 201);
  await readBody(await chat.call("POST", "/archive"));
  await readBody(await chat.call("POST", "/unarchive"));
  return chat;
}
