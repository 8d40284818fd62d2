/** A conversation with more content than RPC transfers in one value. */
import { beforeAll, expect, it } from "vitest";
import { MAX_REQUEST_BYTES } from "../../../src/context/model-quirks";
import type { ContextReport } from "../../../src/contract/context";
import type { DisplayItem } from "../../../src/contract/item";
import type { Page } from "../../../src/contract/page";
import { type Chat, migrate, newChat } from "../../workers/support";

beforeAll(migrate);

/** 36 MB: the requests that send them take long on a busy machine. */
const MESSAGES = 36;

async function largeChat(): Promise<Chat> {
  const chat = await newChat({ window: null });
  for (let n = 0; n < MESSAGES; n++) await chat.append("x".repeat(1_000_000));
  return chat;
}

it("is read in pages, and its next request holds as much of it as one may", async () => {
  const chat = await largeChat();

  const positions: number[] = [];
  let path = "/messages";
  for (;;) {
    const page = await chat.read<Page<DisplayItem> & { readonly next_cursor: string | null }>(path);
    positions.push(...page.data.map((item) => item.position));
    if (!page.has_more) break;
    path = `/messages?after=${page.next_cursor}`;
  }
  expect(positions).toEqual(Array.from({ length: MESSAGES }, (_, index) => index + 1));

  const { request } = await chat.read<ContextReport>("/context");
  expect(request.body.length).toBeLessThanOrEqual(MAX_REQUEST_BYTES);
  expect(request.body.length).toBeGreaterThan(MAX_REQUEST_BYTES / 2);
}, 60_000);
