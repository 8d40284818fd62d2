/** The newest frames, in memory for readers at the live end; older ones are read from the table. */
import type { FrameLine } from "./frames";
import { takeUnits } from "./stored-frames";

const MOST_FRAMES = 512;
/** UTF-16 units of their JSON, where they are not one frame's: many objects share one isolate's memory. */
const MOST_UNITS = 500_000;

export class RecentFrames {
  #lines: FrameLine[] = [];
  #units = 0;

  /** UTF-16 units that are held. */
  get units(): number {
    return this.#units;
  }

  push(line: FrameLine): void {
    this.#lines.push(line);
    this.#units += line.json.length;
    // Twice the bound is reached before what is beyond it goes, so that not every frame moves all others.
    if (this.#lines.length > 2 * MOST_FRAMES || this.#units > 2 * MOST_UNITS) this.#forgetOldest();
  }

  /** Frames after `after`; null: they begin before what is held. */
  read(after: number, limit: number): FrameLine[] | null {
    const [oldest] = this.#lines;
    // Offsets follow one another: where to begin is known without a search.
    const from = after + 1 - (oldest?.offset ?? 0);
    return oldest && from >= 0 ? takeUnits(this.#lines.slice(from, from + limit), limit) : null;
  }

  /** Nothing up to `offset` stays. */
  dropTo(offset: number): void {
    this.#keep(this.#lines.filter((line) => line.offset > offset));
  }

  #forgetOldest(): void {
    let units = 0;
    const last = this.#lines.findLastIndex(({ json }, index) => {
      units += json.length;
      return this.#lines.length - index > MOST_FRAMES || units > MOST_UNITS;
    });
    // The newest stays, whatever it weighs.
    this.#keep(this.#lines.slice(Math.min(last + 1, this.#lines.length - 1)));
  }

  #keep(lines: FrameLine[]): void {
    this.#lines = lines;
    this.#units = lines.reduce((sum, { json }) => sum + json.length, 0);
  }
}
