/** A cache bounded by the weight of its values, not by their number. Several objects may share the isolate's memory. */
interface BoundedCache<K, V> {
  get(key: K): V | undefined;
  /**
   * Replaces the key's value: a text that was not committed in the end gives way to the one that was. `units` is the value's weight. A value
   * that exceeds the remaining room evicts all others; one that exceeds the whole cache is not kept.
   */
  set(key: K, value: V, units: number): void;
  clear(): void;
}

export function createBoundedCache<K, V>(maxUnits: number): BoundedCache<K, V> {
  const entries = new Map<K, { readonly value: V; readonly units: number }>();
  let held = 0;
  const clear = (): void => {
    entries.clear();
    held = 0;
  };
  return {
    get: (key) => entries.get(key)?.value,
    set(key, value, units) {
      held -= entries.get(key)?.units ?? 0;
      entries.delete(key);
      if (units > maxUnits) return;
      if (held + units > maxUnits) clear();
      entries.set(key, { value, units });
      held += units;
    },
    clear,
  };
}
