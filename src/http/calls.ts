/**
 * Calls to objects. A call that is safe to repeat is repeated once, with a fresh stub, when the runtime marks its error as
 * retryable.
 */
import type { Condition } from "../app/conditions";

/** The runtime's marks on an error. They cross RPC; an `Error`'s own properties do not. */
interface Marks {
  readonly retryable: boolean;
  /** The object has more requests than it can take, so repeating the call makes it worse. */
  readonly overloaded: boolean;
}

export function readMarks(error: unknown): Marks {
  if (typeof error !== "object" || error === null) return { retryable: false, overloaded: false };
  return {
    retryable: "retryable" in error && error.retryable === true,
    overloaded: "overloaded" in error && error.overloaded === true,
  };
}

/**
 * `connect` makes a fresh stub. Use this only for work that has one effect however often it is asked for: reads, and writes
 * with an idempotency key.
 */
export async function callWithRetry<Api, T>(connect: () => Api, work: (api: Api) => Promise<T>): Promise<T> {
  try {
    return await work(connect());
  } catch (error) {
    const { retryable, overloaded } = readMarks(error);
    if (!retryable || overloaded) throw error;
    return await work(connect());
  }
}

/** As `callWithRetry`, but once if there is a condition: the change itself would make a repetition fail. */
export function callUnder<Api, T>(condition: Condition | undefined, connect: () => Api, work: (api: Api) => Promise<T>): Promise<T> {
  return condition ? work(connect()) : callWithRetry(connect, work);
}
