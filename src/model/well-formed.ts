/**
 * Joins the two halves of a character that arrive in two pieces of a stream. All text that it returns is well formed. The
 * database would store half a character as another text than the one in memory, and requests after a restart would differ.
 */
const endsInHalf = (text: string): boolean => (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;

export class WellFormedText {
  #half = "";

  /** Adds a piece. Returns the text that is complete so far. */
  add(piece: string): string {
    const text = this.#half + piece;
    this.#half = endsInHalf(text) ? text.slice(-1) : "";
    return (this.#half === "" ? text : text.slice(0, -1)).toWellFormed();
  }

  /** Returns what remains of a character whose second half never came. */
  end(): string {
    const rest = this.#half.toWellFormed();
    this.#half = "";
    return rest;
  }
}
