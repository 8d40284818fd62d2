/**
 * Thrown when the read model has events only up to `upTo`, and the batch begins later: the read model was dropped, or restored from a
 * backup. Nothing of the batch was written. The projector goes back to `upTo` and sends the missing events.
 */
export class ProjectionGapError extends Error {
  override readonly name = "ProjectionGapError";
  readonly upTo: number;

  constructor(upTo: number) {
    super(`the read model ends at seq ${upTo}`);
    this.upTo = upTo;
  }
}
