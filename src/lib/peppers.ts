/** The deployment's secrets that sign and seal: one makes everything new, and during a rotation another one is accepted beside it. */
export interface Peppers {
  readonly current: string;
  /** `until`: epoch milliseconds; from then on nothing that was signed or sealed under it is accepted. Null: no rotation is under way. */
  readonly previous: { readonly pepper: string; readonly until: number } | null;
}

/** The pepper that is accepted beside the current one. Null: there is none, or its time is over. */
export const acceptedBeside = ({ previous }: Peppers, now: number): string | null =>
  previous !== null && now < previous.until ? previous.pepper : null;

/** What the first pepper that is accepted now opens. Null when none opens it. */
export async function openUnder<T>(peppers: Peppers, now: number, open: (pepper: string) => Promise<T | null>): Promise<T | null> {
  const opened = await open(peppers.current);
  const beside = opened === null ? acceptedBeside(peppers, now) : null;
  return beside === null ? opened : open(beside);
}
