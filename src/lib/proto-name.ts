/** Detects `__proto__` as a property name in JSON. Code that copies records drops it silently, so it is rejected where JSON comes in. */
interface Place {
  readonly value: unknown;
  readonly key: string;
  readonly within: Place | null;
}

/** Matches the name itself, or an escape of one of its letters. */
const MAY_NAME_IT = /__proto__|\\u00(?:5f|6f|7[024])/i;

/** The path of the first `__proto__` in the JSON text, by property names and indexes. Null when there is none. */
export function protoPath(json: string): readonly string[] | null {
  if (!MAY_NAME_IT.test(json)) return null;
  const open: Place[] = [{ value: JSON.parse(json), key: "", within: null }];
  for (let place = open.pop(); place; place = open.pop()) {
    if (typeof place.value !== "object" || place.value === null) continue;
    for (const [key, value] of Object.entries(place.value)) {
      const inner = { value, key, within: place };
      if (key === "__proto__") return toPath(inner);
      open.push(inner);
    }
  }
  return null;
}

function toPath(place: Place): readonly string[] {
  const path: string[] = [];
  for (let at = place; at.within; at = at.within) path.unshift(at.key);
  return path;
}
