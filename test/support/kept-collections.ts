/** Finds maps and sets that keep what should be gone. */

type Collection = Readonly<Pick<ReadonlySet<unknown>, "size">>;

/** From now on, `note` is called with each Map and Set that code creates. The returned function ends that. */
function watchCollections(note: (made: Collection) => void): () => void {
  const [OwnMap, OwnSet] = [globalThis.Map, globalThis.Set];
  globalThis.Map = class<K, V> extends OwnMap<K, V> {
    constructor(entries?: Iterable<readonly [K, V]> | null) {
      super(entries);
      note(this);
    }
  } as MapConstructor;
  globalThis.Set = class<V> extends OwnSet<V> {
    constructor(values?: Iterable<V> | null) {
      super(values);
      note(this);
    }
  } as SetConstructor;
  return () => {
    [globalThis.Map, globalThis.Set] = [OwnMap, OwnSet];
  };
}

/** Runs `work` with a Map and a Set that are counted: those that code creates meanwhile. */
export async function withCountedCollections<T>(work: (sizes: () => readonly number[]) => Promise<T>): Promise<T> {
  const made: Collection[] = [];
  const end = watchCollections((collection) => made.push(collection));
  try {
    return await work(() => made.map(({ size }) => size));
  } finally {
    end();
  }
}

/** `file`: the name of the file that made it. */
export interface KeptCollection {
  readonly file: string;
  readonly collection: Collection;
}

const HERE = "kept-collections.ts";
/** The file that is at work, by the first line of the stack that is not of this one. */
function findFile(): string {
  const files = [...(new Error().stack ?? "").matchAll(/([\w-]+\.ts):\d/g)].map(([, file]) => file ?? "");
  return files.find((file) => file !== HERE) ?? "";
}

/** Builds an object. Returns it with the maps and sets that it began with, in their order. */
export function buildWatched<T>(build: () => T): { readonly built: T; readonly kept: readonly KeptCollection[] } {
  const kept: KeptCollection[] = [];
  const end = watchCollections((collection) => kept.push({ file: findFile(), collection }));
  try {
    return { built: build(), kept };
  } finally {
    end();
  }
}
