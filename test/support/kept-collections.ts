/** Finds maps and sets that grow while a test does what should leave nothing behind. */

/** Runs `work` with a Map and a Set that are counted: those that code creates meanwhile. */
export async function withCountedCollections<T>(work: (sizes: () => readonly number[]) => Promise<T>): Promise<T> {
  const made: { readonly size: number }[] = [];
  const [OwnMap, OwnSet] = [globalThis.Map, globalThis.Set];
  globalThis.Map = class<K, V> extends OwnMap<K, V> {
    constructor(entries?: Iterable<readonly [K, V]> | null) {
      super(entries);
      made.push(this);
    }
  } as MapConstructor;
  globalThis.Set = class<V> extends OwnSet<V> {
    constructor(values?: Iterable<V> | null) {
      super(values);
      made.push(this);
    }
  } as SetConstructor;
  try {
    return await work(() => made.map(({ size }) => size));
  } finally {
    [globalThis.Map, globalThis.Set] = [OwnMap, OwnSet];
  }
}
