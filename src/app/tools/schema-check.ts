/**
 * Checks a value by a JSON Schema (draft 2020-12) within a budget of steps. A library would be shorter, but no library bounds its work:
 * they run `pattern` and `format` on the engine's backtracking regular expressions, apply a schema again on each path that leads to it, and
 * compare items in pairs.
 *
 * Left to the tool's runner: `pattern`, `patternProperties`, `unevaluatedProperties`, `unevaluatedItems` and dynamic references. A verdict
 * that depends on one of them is unsure, and an unsure verdict is no fault. `format` is an annotation, as the draft defines it.
 */
import { canonical, type Spend } from "./canonical-json";
import { type Fields, isFields, References } from "./schema-parts";
import {
  describeFaults,
  FINE,
  Findings,
  failIf,
  fails,
  fault,
  isSure,
  listed,
  none,
  numberFaults,
  type Place,
  part,
  toArray,
  typeFault,
  UNSURE,
  type Verdict,
} from "./schema-verdict";

/** Thrown when the check exceeds its budget. */
export class OverBudget extends Error {}
/** Thrown when a reference of the schema has no target. */
export class UnusableSchema extends Error {}

/** Steps for applying one schema to one value. A property name, an enum value, and eight characters of text cost one step each. */
const APPLY_STEPS = 10;
/** About 100 ms on a slow core: enough for a list of 5,000 objects with seven properties each. */
const MAX_STEPS = 500_000;

export class StepBudget {
  #left: number;

  constructor(steps = MAX_STEPS) {
    this.#left = steps;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new OverBudget("the check takes too many steps");
  }
}

/** The most levels, counting both the value's nesting and schemas that apply to the same value. */
const MAX_NESTING = 500;
const UNJUDGED = ["pattern", "patternProperties", "unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef"] as const;

/**
 * Lists what is wrong with `value`, each fault with the path of its field. Empty when no fault was found. Throws `OverBudget` and
 * `UnusableSchema`.
 */
export function checkSchema(schema: Fields, value: unknown, budget: StepBudget): readonly string[] {
  return describeFaults(new Check(schema, budget).apply(schema, { value, key: null, within: null, nesting: 0 }));
}

class Check {
  readonly #references: References;
  readonly #spend: Spend;

  constructor(root: Fields, budget: StepBudget) {
    this.#references = new References(root);
    this.#spend = (steps) => budget.spend(steps);
  }

  apply(schema: unknown, place: Place): Verdict {
    this.#spend(APPLY_STEPS);
    if (schema === false) return fault(place, () => "is not allowed");
    if (!isFields(schema)) return FINE;
    if (place.nesting > MAX_NESTING) throw new OverBudget("nested too deep to check");
    const found = new Findings();
    if (UNJUDGED.some((keyword) => schema[keyword] !== undefined)) found.add(UNSURE);
    this.#judge(schema, { ...place, nesting: place.nesting + 1 }, found);
    return found;
  }

  #judge(schema: Fields, place: Place, found: Findings): void {
    const { value } = place;
    if (typeof schema.$ref === "string") found.add(this.#referred(schema.$ref, place));
    if (schema.type !== undefined) found.add(this.#type(schema.type, place));
    if (schema.const !== undefined) found.add(this.#listed([schema.const], place));
    if (Array.isArray(schema.enum)) found.add(this.#listed(schema.enum, place));
    this.#combined(schema, place, found);
    if (typeof value === "string") found.add(this.#text(schema, value, place));
    else if (typeof value === "number") found.add(numberFaults(schema, value, place));
    else if (Array.isArray(value)) this.#list(schema, value, place, found);
    else if (isFields(value)) this.#object(schema, value, place, found);
  }

  #referred(reference: string, place: Place): Verdict {
    const target = this.#references.resolve(reference);
    if (target === undefined) throw new UnusableSchema("a $ref has no target");
    return this.apply(target, place);
  }

  #type(type: unknown, place: Place): Verdict {
    const types = Array.isArray(type) ? type : [type];
    this.#spend(types.length);
    return typeFault(types, place);
  }

  #listed(allowed: readonly unknown[], place: Place): Verdict {
    const { value } = place;
    this.#spend(allowed.length);
    const text = typeof value === "object" && value !== null ? canonical(value, this.#spend) : null;
    const matches = (each: unknown): boolean => (text === null ? each === value : canonical(each, this.#spend) === text);
    return failIf(!allowed.some(matches), place, () => `must be ${listed(allowed)}`);
  }

  #combined(schema: Fields, place: Place, found: Findings): void {
    for (const each of toArray(schema.allOf)) if (!found.isFull) found.add(this.apply(each, place));
    if (Array.isArray(schema.anyOf)) found.add(this.#anyOf(schema.anyOf, place));
    if (Array.isArray(schema.oneOf)) found.add(this.#oneOf(schema.oneOf, place));
    if (schema.not !== undefined) found.add(this.#not(schema.not, place));
    if (schema.if !== undefined) found.add(this.#conditional(schema, place));
  }

  #anyOf(schemas: readonly unknown[], place: Place): Verdict {
    const verdicts: Verdict[] = [];
    for (const each of schemas) {
      const verdict = this.apply(each, place);
      if (isSure(verdict)) return FINE;
      verdicts.push(verdict);
    }
    return verdicts.some((verdict) => !fails(verdict)) ? UNSURE : none(verdicts, place);
  }

  #oneOf(schemas: readonly unknown[], place: Place): Verdict {
    const verdicts = schemas.map((each) => this.apply(each, place));
    if (verdicts.filter(isSure).length > 1) return fault(place, () => "must match exactly one of the schemas under oneOf");
    if (verdicts.every(fails)) return none(verdicts, place);
    return verdicts.some((verdict) => !fails(verdict) && verdict.unsure) ? UNSURE : FINE;
  }

  #not(schema: unknown, place: Place): Verdict {
    const verdict = this.apply(schema, place);
    if (fails(verdict)) return FINE;
    return verdict.unsure ? UNSURE : fault(place, () => "matches what is not allowed");
  }

  #conditional(schema: Fields, place: Place): Verdict {
    const verdict = this.apply(schema.if, place);
    if (fails(verdict)) return this.apply(schema.else, place);
    return verdict.unsure ? UNSURE : this.apply(schema.then, place);
  }

  #text({ minLength, maxLength }: Fields, value: string, place: Place): Verdict {
    if (typeof minLength !== "number" && typeof maxLength !== "number") return FINE;
    this.#spend(value.length / 8);
    let length = 0;
    for (const _ of value) length += 1;
    if (typeof minLength === "number" && length < minLength)
      return fault(place, () => `must have at least ${minLength} characters, not ${length}`);
    return failIf(
      typeof maxLength === "number" && length > maxLength,
      place,
      () => `must have at most ${maxLength} characters, not ${length}`,
    );
  }

  #list(schema: Fields, value: readonly unknown[], place: Place, found: Findings): void {
    const { minItems, maxItems } = schema;
    found.add(failIf(typeof minItems === "number" && value.length < minItems, place, () => `must have at least ${minItems} items`));
    found.add(failIf(typeof maxItems === "number" && value.length > maxItems, place, () => `must have at most ${maxItems} items`));
    // Before draft 2020-12, a list under `items` meant what `prefixItems` means now.
    const isOldForm = Array.isArray(schema.items);
    const first = toArray(isOldForm ? schema.items : schema.prefixItems);
    const rest = isOldForm ? schema.additionalItems : schema.items;
    for (const [index, item] of value.entries()) {
      const judgedBy = index < first.length ? first[index] : rest;
      if (judgedBy === undefined || found.isFull) break;
      found.add(this.apply(judgedBy, part(place, index, item)));
    }
    if (schema.contains !== undefined) found.add(this.#contains(schema, value, place));
    if (schema.uniqueItems === true) found.add(this.#unique(value, place));
  }

  #contains({ contains, minContains, maxContains }: Fields, value: readonly unknown[], place: Place): Verdict {
    let sure = 0;
    let possible = 0;
    for (const [index, item] of value.entries()) {
      const verdict = this.apply(contains, part(place, index, item));
      if (isSure(verdict)) sure += 1;
      if (!fails(verdict)) possible += 1;
    }
    const least = typeof minContains === "number" ? minContains : 1;
    const most = typeof maxContains === "number" ? maxContains : Number.POSITIVE_INFINITY;
    if (possible < least) return fault(place, () => `must contain at least ${least} items that match the schema under contains`);
    if (sure > most) return fault(place, () => `must contain at most ${most} items that match the schema under contains`);
    return sure < least || possible > most ? UNSURE : FINE;
  }

  #unique(value: readonly unknown[], place: Place): Verdict {
    const texts = new Set(value.map((item) => canonical(item, this.#spend)));
    return failIf(texts.size < value.length, place, () => "must not have an item twice");
  }

  #object(schema: Fields, value: Fields, place: Place, found: Findings): void {
    const names = Object.keys(value);
    this.#spend(names.length);
    this.#names(schema, names.length, place, found);
    this.#required(schema.required, value, place, found);
    this.#dependent(schema, value, place, found);
    const properties = isFields(schema.properties) ? schema.properties : {};
    // Properties that match a pattern are not additional. Patterns are not evaluated here, so any property may match one.
    const others = schema.patternProperties === undefined ? schema.additionalProperties : undefined;
    for (const name of names) {
      if (found.isFull) break;
      if (schema.propertyNames !== undefined) found.add(this.apply(schema.propertyNames, part(place, name, name)));
      const judgedBy = Object.hasOwn(properties, name) ? properties[name] : others;
      if (judgedBy !== undefined) found.add(this.apply(judgedBy, part(place, name, value[name])));
    }
  }

  #names({ minProperties, maxProperties }: Fields, size: number, place: Place, found: Findings): void {
    found.add(
      failIf(typeof minProperties === "number" && size < minProperties, place, () => `must have at least ${minProperties} properties`),
    );
    found.add(
      failIf(typeof maxProperties === "number" && size > maxProperties, place, () => `must have at most ${maxProperties} properties`),
    );
  }

  #required(required: unknown, value: Fields, place: Place, found: Findings): void {
    for (const name of toArray(required)) {
      this.#spend(1);
      if (typeof name === "string" && !Object.hasOwn(value, name)) found.add(fault(part(place, name, undefined), () => "is required"));
    }
  }

  #dependent(schema: Fields, value: Fields, place: Place, found: Findings): void {
    for (const map of [schema.dependentRequired, schema.dependentSchemas, schema.dependencies]) {
      if (!isFields(map)) continue;
      for (const [name, dependent] of Object.entries(map)) {
        this.#spend(1);
        if (!Object.hasOwn(value, name)) continue;
        if (Array.isArray(dependent)) this.#required(dependent, value, place, found);
        else found.add(this.apply(dependent, place));
      }
    }
  }
}
