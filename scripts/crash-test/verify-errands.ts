/** Compares the remains of erasures, redactions, forks and rebuilds with what was acknowledged. */

export interface ErasedEvidence {
  readonly session: string;
  /** Statuses of a read, of a read of its messages, and of a creation with its old Idempotency-Key. */
  readonly read: number;
  readonly messages: number;
  readonly recreated: number;
  readonly isListed: boolean;
}

export interface RedactedEvidence {
  /** Words that only redacted messages contained. */
  readonly markers: readonly string[];
  /** The responses of each route. */
  readonly answers: ReadonlyMap<string, string>;
  /** The number of hits for each word. */
  readonly hits: ReadonlyMap<string, number>;
}

export interface ForkEvidence {
  readonly fork: string;
  /** The texts of the source's messages up to the fork, and those of the fork's messages. */
  readonly expected: readonly string[];
  readonly found: readonly string[];
}

export interface RebuiltEvidence {
  readonly session: string;
  readonly rows: number;
  /** Differences found by the comparison after the repair. There should be none. */
  readonly differences: number;
  readonly repaired: boolean;
  /** Whether the repairing comparison completed. */
  readonly isRepaired: boolean;
}

/** Results from the files of a stopped server. */
export interface FileEvidence {
  /** Rows of any table that contain a marker of an erased session or a redacted message. */
  readonly marked: readonly string[];
  /** Rows of D1 that name an erased session. */
  readonly named: readonly string[];
  /** Object files that contain such a marker in any byte, deleted or not. */
  readonly bytes: readonly string[];
}

export interface ErrandEvidence {
  readonly erased: readonly ErasedEvidence[];
  readonly redacted: RedactedEvidence;
  readonly forks: readonly ForkEvidence[];
  readonly rebuilt: readonly RebuiltEvidence[];
  readonly files: FileEvidence;
}

/** The problems found, one text each. An empty result means that every kind of errand ran and nothing is wrong. */
export function faultsOfErrands({ erased, redacted, forks, rebuilt, files }: ErrandEvidence): readonly string[] {
  return [
    ...erased.flatMap(faultsOfErased),
    ...faultsOfRedacted(redacted),
    ...forks.flatMap(faultsOfFork),
    ...rebuilt.flatMap(faultsOfRebuilt),
    ...files.marked.map((row) => `a row holds what was erased or redacted: ${row}`),
    ...files.named.map((row) => `a row of D1 is an erased session's: ${row}`),
    ...files.bytes.map((file) => `a file holds bytes of what was erased or redacted: ${file}`),
    ...(erased.length === 0 ? ["no session was erased"] : []),
    ...(redacted.markers.length === 0 ? ["no message was redacted"] : []),
    ...(forks.length === 0 ? ["no session was forked"] : []),
    ...(rebuilt.length === 0 ? ["no rows were rebuilt"] : []),
  ];
}

function faultsOfErased({ session, read, messages, recreated, isListed }: ErasedEvidence): string[] {
  return [
    ...(read === 404 ? [] : [`erased, and a read is answered ${read}: ${session}`]),
    ...(messages === 404 ? [] : [`erased, and a read of its messages is answered ${messages}: ${session}`]),
    ...(recreated >= 400 && recreated < 500 ? [] : [`erased, and a create with its old key is answered ${recreated}: ${session}`]),
    ...(isListed ? [`erased, and listed: ${session}`] : []),
  ];
}

function faultsOfRedacted({ markers, answers, hits }: RedactedEvidence): string[] {
  return markers.flatMap((marker) => [
    ...[...answers].flatMap(([route, answer]) => (answer.includes(marker) ? [`redacted, and in the answer of ${route}: ${marker}`] : [])),
    ...((hits.get(marker) ?? 0) > 0 ? [`redacted, and found by a look-up: ${marker}`] : []),
  ]);
}

function faultsOfFork({ fork, expected, found }: ForkEvidence): string[] {
  if (expected.length !== found.length) return [`a fork has ${found.length} of ${expected.length} messages: ${fork}`];
  const differing = expected.findIndex((text, index) => text !== found[index]);
  return differing < 0 ? [] : [`a fork's message ${differing + 1} is not its source's: ${fork}`];
}

function faultsOfRebuilt({ session, rows, differences, repaired, isRepaired }: RebuiltEvidence): string[] {
  return [
    ...(isRepaired && repaired ? [] : [`rows could not be mended: ${session}`]),
    ...(differences > 0 ? [`${differences} differences are left after a rebuild: ${session}`] : []),
    ...(rows === 0 ? [`a rebuild found no rows: ${session}`] : []),
  ];
}
