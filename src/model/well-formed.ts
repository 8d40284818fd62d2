/**
 * Keeps the halves of a character together that two pieces of a stream bring apart. What leaves here is well formed: the
 * database would store another text than the one in memory, and the next life's request would differ.
 */
const endsInHalf = (text: string): boolean => (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;

export class WellFormedText {
  #half = "";

  /** The text that is whole by now. */
  add(piece: string): string {
    const text = this.#half + piece;
    this.#half = endsInHalf(text) ? text.slice(-1) : "";
    return (this.#half === "" ? text : text.slice(0, -1)).toWellFormed();
  }

  /** What remained of a character whose other half never came. */
  end(): string {
    const rest = this.#half.toWellFormed();
    this.#half = "";
    return rest;
  }
}
