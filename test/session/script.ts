/** Random conversations: their messages, and the compactions between them. */
import fc from "fast-check";
import { expect } from "vitest";
import type { Life } from "./life";
import { append, compact, cutOff, newest, newLife, retry, revert, say, trim, useTools } from "./talk";

export const text = (mark: string, words: number): string => `${mark} ${"lorem ipsum ".repeat(words)}`;
const image = { type: "image", url: "https://example.org/a.png", media_type: "image/png" } as const;

export type Step = {
  readonly kind: "say" | "tools" | "cut_off" | "retry" | "append" | "compact" | "trim" | "revert";
  readonly size: number;
};

export const steps = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom("say", "say", "tools", "cut_off", "retry", "append", "compact", "compact", "trim", "revert"),
    size: fc.integer({ min: 1, max: 120 }),
  }),
  { minLength: 3, maxLength: 18 },
);

/** Steps that both conversations play. */
export async function hear(life: Life, { kind, size }: Step, n: number): Promise<void> {
  if (kind === "say") await say(life, text(`question ${n}`, size), text(`reply ${n}`, size));
  if (kind === "tools") await useTools(life, `look ${n}`, [text("found", size), text("other", 2)]);
  if (kind === "cut_off") await cutOff(life, `tell ${n}`, text("I think", size));
  if (kind === "retry") await retry(life, `again ${n}`);
  if (kind === "append")
    await append(life, n % 2 === 0 ? "user" : "system", [{ type: "text", text: text(`note ${n}`, size) }, ...(n % 6 ? [] : [image])]);
}

/** Steps that only one of them plays. */
export async function change(life: Life, { kind, size }: Step): Promise<void> {
  if (kind === "compact") await compact(life, size);
  if (kind === "trim") trim(life);
  if (kind === "revert" && newest(life)) expect(await revert(life)).toMatchObject({ ok: true });
}

export const policies = [
  "oneclaw",
  '{"preset":"oneclaw","keep":{"system_messages":true},"results":{"preview_beyond":0,"preview_chars":40}}',
  '{"preset":"balanced","trigger":{"rent_factor":null},"results":{"preview_beyond":1,"preview_chars":40}}',
];

export async function talked(turns: number, words = 60): Promise<Life> {
  const life = await newLife({ system: "Be brief." });
  for (let turn = 1; turn <= turns; turn++) await say(life, text(`question ${turn}`, words), text(`reply ${turn}`, words));
  return life;
}
