/** A cache bounded by the weight of its values, not by their number. Several objects may share the isolate's memory. */
interface BoundedCache<K, V> {
  get(key: K): V | undefined;
  /**
   * `units` is the value's weight. A value that exceeds the remaining room evicts all others; one that exceeds the
   * whole cache is not kept.
   */
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
