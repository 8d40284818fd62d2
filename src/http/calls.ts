/** Calls to objects: what is safe to repeat is repeated once, with a fresh stub, when the runtime says that it may be. */

/** The runtime marks its errors; an `Error`'s own fields do not cross RPC, these do. */
interface Marks {
  readonly retryable: boolean;
  /** The object has more requests than it can take: repeating makes it worse. */
  readonly overloaded: boolean;
}

export function marksOf(error: unknown): Marks {
  if (typeof error !== "object" || error === null) return { retryable: false, overloaded: false };
  return {
    retryable: "retryable" in error && error.retryable === true,
    overloaded: "overloaded" in error && error.overloaded === true,
  };
}

/** `connect` makes a fresh stub. Only for what happens once however often it is asked: reads, and writes with a key. */
export async function callTwice<Api, T>(connect: () => Api, work: (api: Api) => Promise<T>): Promise<T> {
  try {
    return await work(connect());
  } catch (error) {
    const { retryable, overloaded } = marksOf(error);
    if (!retryable || overloaded) throw error;
    return await work(connect());
  }
}
