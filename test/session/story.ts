/** Random stories of one session: what people and models do, and what is done to the record. */
import fc from "fast-check";
import { isAmong } from "../../src/domain/branch";
import type { ItemMeta } from "../../src/domain/message";
import { itemsAt } from "../../src/session/log/session-past";
import { CALLER, type Life, settle } from "./life";
import { hear, type Step, text } from "./script";
import { compact, newest, revert, trim } from "./talk";

export const keyless = { idempotency: null } as const;

type Kind = Step["kind"] | "rewind" | "switch" | "edit" | "regenerate" | "redact" | "pin" | "reset" | "archive";

interface Act {
  readonly kind: Kind;
  readonly size: number;
}

export const acts = fc.array(
  fc.record<Act>({
    kind: fc.constantFrom<Kind>(
      ...([
        "say",
        "say",
        "say",
        "tools",
        "cut_off",
        "retry",
        "append",
        "compact",
        "compact",
        "compact",
        "trim",
        "revert",
        "revert",
      ] as const),
      ...(["rewind", "rewind", "switch", "switch", "edit", "regenerate", "redact", "pin", "reset", "archive"] as const),
    ),
    size: fc.integer({ min: 1, max: 120 }),
  }),
  { minLength: 4, maxLength: 22 },
);

export class Story {
  readonly redacted: string[] = [];
  readonly tried = new Map<string, number>();

  readonly life: Life;

  constructor(life: Life) {
    this.life = life;
  }

  get items(): ItemMeta[] {
    const { state } = this.life.runtime;
    return itemsAt(this.life.sql, [{ from: 1, to: state.next_position }], state.branch.taken_back).filter(
      ({ position }) => !isAmong(state.branch.elsewhere, position),
    );
  }

  #note(kind: string, done: boolean): void {
    if (done) this.tried.set(kind, (this.tried.get(kind) ?? 0) + 1);
  }

  async do({ kind, size }: Act, n: number): Promise<void> {
    const { life } = this;
    const { service } = life;
    const { state } = life.runtime;
    switch (kind) {
      case "compact":
        return compact(life, size);
      case "trim":
        return trim(life);
      case "revert":
        if (newest(life)) this.#note("revert", (await revert(life)).ok);
        return;
      case "reset":
        return this.#note("reset", (await service.resetSummary(CALLER)).ok);
      case "archive":
        return this.#note("archive", (await (size % 3 === 0 ? service.unarchive(CALLER) : service.archive(CALLER))).ok);
      case "pin":
        return this.#note("pin", (await service.setPins(CALLER, [`pin ${n}`])).ok);
      case "rewind":
        this.#note("rewind", (await service.rewind(CALLER, { to: size % state.next_position, ...keyless })).ok);
        return settle();
      case "switch":
        this.#note("switch", (await service.switchBranch(CALLER, { branch: 1 + (size % state.branch.count), ...keyless })).ok);
        return settle();
      case "edit":
      case "regenerate":
        return this.#again(kind, size, n);
      case "redact":
        return this.#redact(size);
      default:
        return hear(life, { kind, size }, n);
    }
  }

  async #again(kind: "edit" | "regenerate", size: number, n: number): Promise<void> {
    const asked = this.items.filter((item) => item.kind === "user");
    const message = asked[size % Math.max(1, asked.length)]?.id;
    if (!message) return;
    const { service } = this.life;
    const parts = [{ type: "text", text: text(`edited ${n}`, size) }] as const;
    const done =
      kind === "edit"
        ? await service.editMessage(CALLER, { message, parts, tools: null, ...keyless })
        : await service.regenerate(CALLER, { message, ...keyless });
    await settle();
    if (done.ok) await this.life.answer(`again ${n}`);
    this.#note(kind, done.ok);
  }

  async #redact(size: number): Promise<void> {
    const { items } = this;
    const item = items[size % Math.max(1, items.length)];
    if (!item) return;
    const parts = this.life.runtime.content.readParts(item);
    const [said] = parts.flatMap((part) => (part.type === "text" ? (/^(question|reply|edited|note) \d+ /.exec(part.text) ?? []) : []));
    const done = await this.life.service.redact(CALLER, item.id, size % 2 === 0 ? {} : { takesBack: true });
    await settle();
    if (done.ok && said?.includes(" ")) this.redacted.push(said);
    this.#note("redact", done.ok);
  }
}
