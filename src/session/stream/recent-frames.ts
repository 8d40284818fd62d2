/** The newest frames, in memory for readers at the live end. Older ones are read from the table. */
import type { FrameLine } from "./frames";
import { takeUnits } from "./stored-frames";

const MOST_FRAMES = 512;
/** The most UTF-16 units of their JSON, unless a single frame has more. Many objects share one isolate's memory. */
const MOST_UNITS = 500_000;

export class RecentFrames {
  #lines: FrameLine[] = [];
  #units = 0;

  /** UTF-16 units in memory. */
  get units(): number {
    return this.#units;
  }

  push(line: FrameLine): void {
    this.#lines.push(line);
    this.#units += line.json.length;
    // Frames are dropped only at twice the bound, so that not every push moves the array.
    if (this.#lines.length > 2 * MOST_FRAMES || this.#units > 2 * MOST_UNITS) this.#forgetOldest();
  }

  /** Frames after `after`. Null when they begin before what is in memory. */
  read(after: number, limit: number): FrameLine[] | null {
    const [oldest] = this.#lines;
    // Offsets are consecutive, so the index follows without a search.
    const from = after + 1 - (oldest?.offset ?? 0);
    return oldest && from >= 0 ? takeUnits(this.#lines.slice(from, from + limit), limit) : null;
  }

  /** Drops everything up to `offset`. */
  dropTo(offset: number): void {
    this.#keep(this.#lines.filter((line) => line.offset > offset));
  }

  #forgetOldest(): void {
    let units = 0;
    const last = this.#lines.findLastIndex(({ json }, index) => {
      units += json.length;
      return this.#lines.length - index > MOST_FRAMES || units > MOST_UNITS;
    });
    // The newest frame stays, whatever its size.
    this.#keep(this.#lines.slice(Math.min(last + 1, this.#lines.length - 1)));
  }

  #keep(lines: FrameLine[]): void {
    this.#lines = lines;
    this.#units = lines.reduce((sum, { json }) => sum + json.length, 0);
  }
}
