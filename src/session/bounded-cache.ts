/** A cache bounded by what it holds, not by how many: one of them serves an object that shares its memory with others. */
interface BoundedCache<K, V> {
  get(key: K): V | undefined;
  /** `units`: its weight. What would not fit beside the rest takes the rest's place; what never fits is not kept. */
  set(key: K, value: V, units: number): void;
  clear(): void;
}

export function createBoundedCache<K, V>(maxUnits: number): BoundedCache<K, V> {
  const entries = new Map<K, V>();
  let held = 0;
  const clear = (): void => {
    entries.clear();
    held = 0;
  };
  return {
    get: (key) => entries.get(key),
    set(key, value, units) {
      if (entries.has(key) || units > maxUnits) return;
      if (held + units > maxUnits) clear();
      entries.set(key, value);
      held += units;
    },
    clear,
  };
}
