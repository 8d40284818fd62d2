/** Counts the events of a run, because without these counts a passed run does not show what it tried. */
export class Stats {
  readonly counts = new Map<string, number>();

  count(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by);
  }

  add(other: Stats): void {
    for (const [what, count] of other.counts) this.count(what, count);
  }

  toString(): string {
    return [...this.counts]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([what, count]) => `${what}: ${count}`)
      .join(" · ");
  }
}
