/** An example of an erasure. */
import type { z } from "@hono/zod-openapi";
import { toErasureView } from "../../app/erasure-view";
import type { erasureView } from "../../contract/erasure";
import { id } from "../../contract/ids";
import { AT, ERASURE, SECOND } from "./shared";

export const erasureResourceExample: z.input<typeof erasureView> = toErasureView({
  id: id("era").parse(ERASURE),
  of: "end_user",
  target: "b1d5781111d84f7b3fe45a0852e59758cd7a87e5a5d2a5b1c1d3b1a2f0a9e7c4",
  forks: false,
  cause: "request",
  requested_at: AT,
  done_at: AT + SECOND,
  gathered: true,
  forgotten: true,
  sessions: { total: 3, done: 3 },
  pending: { session: 0, read_model: 0, files: 0, exports: 0, chat: 0 },
  models: ["gpt-5"],
});
