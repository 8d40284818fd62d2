/** Generates planted values. Each is given once, and no value is part of another. */
import type { Random } from "../support/random.ts";
import type { ValueForm } from "./plants/plant.ts";

interface Drawing {
  readonly random: Random;
  /** Values that were given so far. */
  readonly values: Set<string>;
}

const FOLDERS = ["exports", "backup", "transfer", "archive"];

const FORMS: Readonly<Record<ValueForm, (random: Random) => string>> = {
  number: (random) => `${letter(random)}${letter(random)}-${random.between(10_000, 99_999)}`,
  path: (random) => `/srv/${FOLDERS[random.between(0, FOLDERS.length - 1)]}/run-${random.between(10_000, 99_999)}/rows.csv`,
  date: (random) => `${random.between(2031, 2049)}-${twoDigits(random.between(1, 12))}-${twoDigits(random.between(1, 28))}`,
  amount: (random) => `${random.between(10, 99)},${random.between(100, 999)}.${twoDigits(random.between(0, 99))}`,
  id: (random) => `shp_${hex(random)}${hex(random)}-${hex(random)}`,
};

export function newValue({ random, values }: Drawing, form: ValueForm): string {
  for (;;) {
    const value = FORMS[form](random);
    if (values.has(value)) continue;
    values.add(value);
    return value;
  }
}

const letter = (random: Random): string => String.fromCharCode(65 + random.between(0, 25));
const twoDigits = (number: number): string => String(number).padStart(2, "0");
const hex = (random: Random): string => random.between(0x1000, 0xffff).toString(16);
