/** I25: signed content goes back unchanged, only to the model that wrote it, and completely while its turn runs. */
import type { ModelRequest, ModelStreamPart } from "../../src/app/ports";
import type { Part } from "../../src/domain/message";
import type { SessionState } from "../../src/domain/state";
import type { Violations } from "./violation";

type Signed = Extract<Part, { type: "reasoning" }>;

const findSigned = (parts: readonly Part[]): Signed[] =>
  parts.filter((part): part is Signed => part.type === "reasoning" && part.provider_metadata !== undefined);

const toSignature = ({ provider_metadata }: Pick<Signed, "provider_metadata">): string => JSON.stringify(provider_metadata);

export class SignedRules {
  /** By its signature, which is unique. */
  readonly #written = new Map<string, { readonly model: string; readonly text: string }>();

  readonly violations: Violations;

  constructor(violations: Violations) {
    this.violations = violations;
  }

  noteReply(model: string, chunks: readonly ModelStreamPart[]): void {
    for (const chunk of chunks) {
      if (chunk.type !== "reasoning" || !chunk.provider_metadata) continue;
      this.#written.set(toSignature(chunk), { model, text: chunk.text });
    }
  }

  check({ model, messages }: ModelRequest, { turn, view }: SessionState): void {
    const sent = messages.flatMap(({ parts }) => findSigned(parts));
    for (const part of sent) {
      const known = this.#written.get(toSignature(part));
      this.violations.check(known?.text === part.text, "I25", () => `signed thinking changed on its way back: ${part.text.slice(0, 60)}`);
      this.violations.check(known?.model === model.id, "I25", () => `thinking of ${known?.model} was sent to ${model.id}`);
    }
    // Each such item contains at least one block.
    const owed = view.items.filter(
      ({ turn: of, signed }) => of !== null && of === turn?.id && signed?.model === model.id && signed.tokens > 0,
    );
    this.violations.check(
      sent.length >= owed.length,
      "I25",
      () => `${sent.length} signed blocks go back, of the running turn alone ${owed.length}`,
    );
  }
}
