/**
 * Makes a value that fits a JSON Schema, in which each free text says the same. It knows the usual keywords, as a stand-in may: types,
 * properties, items, enum, const, references inside the schema, and the first of several alternatives.
 */

type Schema = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is Schema => typeof value === "object" && value !== null && !Array.isArray(value);

/** A recursive schema ends here. */
const MAX_LEVELS = 24;

export const instanceFor = (schema: Schema, text: string): unknown => build(schema, { root: schema, text, level: 0 });

interface Around {
  readonly root: Schema;
  readonly text: string;
  readonly level: number;
}

function build(given: unknown, around: Around): unknown {
  if (!isSchema(given) || around.level > MAX_LEVELS) return null;
  const schema = resolve(given, around.root);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  const inner = { ...around, level: around.level + 1 };
  for (const list of [schema.anyOf, schema.oneOf, schema.allOf]) if (Array.isArray(list)) return build(list[0], inner);
  return ofType(schema, inner);
}

function ofType(schema: Schema, around: Around): unknown {
  const type = Array.isArray(schema.type) ? schema.type[0] : (schema.type ?? (schema.properties ? "object" : "string"));
  switch (type) {
    case "object":
      return toObject(schema, around);
    case "array":
      return Array.from({ length: Math.min(toNumber(schema.minItems), MAX_LEVELS) }, () => build(schema.items, around));
    case "number":
    case "integer":
      return toNumber(schema.minimum);
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return around.text.slice(0, typeof schema.maxLength === "number" ? schema.maxLength : undefined);
  }
}

/** The properties that the schema requires; all of them where it requires none. */
function toObject({ properties, required }: Schema, around: Around): object {
  const known = isSchema(properties) ? Object.entries(properties) : [];
  const names: readonly unknown[] = Array.isArray(required) && required.length > 0 ? required : known.map(([name]) => name);
  return Object.fromEntries(known.filter(([name]) => names.includes(name)).map(([name, each]) => [name, build(each, around)]));
}

const toNumber = (value: unknown): number => (typeof value === "number" ? value : 0);

/** A reference to another part of the schema (`#/$defs/name`). Any other reference stands for itself. */
function resolve(schema: Schema, root: Schema): Schema {
  if (typeof schema.$ref !== "string" || !schema.$ref.startsWith("#")) return schema;
  const steps = schema.$ref.slice(1).split("/").filter(Boolean);
  const found = steps.reduce<unknown>((at, step) => (isSchema(at) && Object.hasOwn(at, step) ? at[step] : undefined), root);
  return isSchema(found) ? found : {};
}
