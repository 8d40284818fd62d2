/** Checks values against schemas of the OpenAPI document. Its components are read once: to read them takes 30 ms. */
import { dereference, initialBaseURI, type OutputUnit, type Schema, validate } from "@cfworker/json-schema";

export class DocumentSchemas {
  readonly #lookup: ReturnType<typeof dereference>;
  readonly #known = new Set<object>();

  constructor(components: object) {
    this.#lookup = dereference({ components } as Schema);
  }

  /** What is wrong with the value. Empty: nothing. */
  findFaults(schema: object, value: unknown): readonly OutputUnit[] {
    if (!this.#known.has(schema)) dereference(schema as Schema, this.#lookup, initialBaseURI, `/checked/${this.#known.size}`);
    this.#known.add(schema);
    return validate(value, schema as Schema, "2020-12", this.#lookup, false).errors;
  }
}
