/** A broken invariant of docs/invariants.md. */
export class Violation extends Error {
  override readonly name = "Violation";
  readonly invariant: string;

  constructor(invariant: string, detail: string) {
    super(`${invariant}: ${detail}`);
    this.invariant = invariant;
  }
}

/** Collects broken invariants in places where nothing can be thrown: inside ports, which the tested code calls. */
export class Violations {
  readonly found: Violation[] = [];

  report(invariant: string, detail: string): void {
    this.found.push(new Violation(invariant, detail));
  }

  check(holds: boolean, invariant: string, detail: () => string): void {
    if (!holds) this.report(invariant, detail());
  }
}
