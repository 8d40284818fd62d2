/**
 * The read model stands at `upTo`, before the first event of the batch: it was dropped, or restored from a backup.
 * Whoever projects goes back to `upTo` and sends what is missing; nothing of the batch was written.
 */
export class ProjectionGapError extends Error {
  override readonly name = "ProjectionGapError";
  readonly upTo: number;

  constructor(upTo: number) {
    super(`the read model stands at seq ${upTo}`);
    this.upTo = upTo;
  }
}
