/** The files of a message: fetched from the platform, and stored as files of the tenant. One that fails is named in the message's text. */
import type { SessionId } from "../../../domain/ids";
import type { Part } from "../../../domain/message";
import type { ChatEvent, ChatFile } from "../channel";
import { noteInLog } from "../replies/say";
import { type Task, toDeliveryToken } from "../task";

interface TakenFiles {
  readonly text: string;
  readonly parts: readonly Part[];
  /** One was not stored because the tenant has as many files, or bytes of them, as it may have. */
  readonly isFull: boolean;
}

/** The model reads it, so that it is in one language. */
const toFailed = ({ name, media_type }: ChatFile): string => `[A file could not be read: ${name ?? media_type ?? "unnamed"}]`;

export async function takeMessageFiles(
  { chat, room, row }: Task,
  { text, files }: Extract<ChatEvent, { readonly type: "message" }>,
  session: SessionId,
): Promise<TakenFiles> {
  const parts: Part[] = [];
  const failed: string[] = [];
  let isFull = false;
  for (const [index, file] of files.entries()) {
    const key = `${toDeliveryToken(row.delivery)}.${index}`;
    const taken = await chat.deps.takeFile({ tenant: room.address.tenant, session, channel: room.channel, file, key });
    if (taken.ok) parts.push(taken.value);
    else {
      failed.push(toFailed(file));
      isFull ||= taken.error.reason === "file_limit";
      const { id, user } = row.delivery;
      const about = { delivery: id, user: user.id, session };
      await noteInLog(chat, { id: `${id}.${index}`, kind: "attachment_failed", reason: taken.error.reason, ...about });
    }
  }
  return { text: [text.trim(), ...failed].filter((each) => each !== "").join("\n\n"), parts, isFull };
}
