/** Generates tool results: records in all formats that APIs, databases and shells use. */
import type { Random } from "../support/random.ts";
import { typescript } from "./code.ts";
import {
  base62,
  base64,
  camel,
  clock,
  digits,
  hex,
  NOUNS,
  orderId,
  pick,
  snake,
  times,
  timestamp,
  uuid,
  VERBS,
  type Write,
} from "./material.ts";

const CITIES = "Lisbon Osaka Nairobi Toronto Leipzig Valparaíso Tromsø Jaipur Austin Kraków".split(" ");
const NAMES = "Mei Okafor Lindqvist Sofia Anand Yusuf Marchetti Novak Delgado Tanaka".split(" ");

const money: Write = (random) => `${random.between(1, 900)}.${digits(random, 2)}`;

const record = (random: Random) => ({
  id: `${pick(random, ["ord", "cus", "evt"])}_${base62(random, 16)}`,
  reference: orderId(random),
  status: pick(random, ["open", "on_its_way", "delivered", "refund_requested", "cancelled"]),
  customer: {
    name: `${pick(random, NAMES)} ${pick(random, NAMES)}`,
    email: `${pick(random, NAMES).toLowerCase()}${digits(random, 3)}@example.com`,
    city: pick(random, CITIES),
  },
  created_at: timestamp(random),
  total: Number(money(random)),
  currency: pick(random, ["EUR", "USD", "JPY"]),
  lines: times(random.between(1, 3), () => ({
    sku: digits(random, 9),
    quantity: random.between(1, 9),
    unit_price: Number(money(random)),
    gift: random.between(0, 1) === 1,
  })),
  [camel(random)]: null,
});

const page = (random: Random) => ({
  data: times(random.between(1, 6), () => record(random)),
  has_more: true,
  next_cursor: base62(random, 24),
});

export const prettyJson: Write = (random) => JSON.stringify(page(random), null, 2);
export const compactJson: Write = (random) => JSON.stringify(page(random));

export const base64File: Write = (random) => base64(random, random.between(100, 700) * 4);

const hexName: Write = (random) => pick(random, [hex(random, 40), uuid(random), hex(random, 64), `${hex(random, 7)}..${hex(random, 7)}`]);
export const hexIds: Write = (random) =>
  times(random.between(8, 50), () => `${hexName(random)}  ${pick(random, NOUNS)}/${snake(random)}`).join("\n");
export const hexDump: Write = (random) => hex(random, random.between(100, 700) * 4);

export const digitRuns: Write = (random) => times(random.between(4, 30), () => digits(random, random.between(20, 120))).join("\n");
export const csv: Write = (random) =>
  ["id,day,amount,share,code,count", ...times(random.between(10, 60), (row) => csvRow(random, row))].join("\n");

const csvRow = (random: Random, row: number): string =>
  [row + 1, timestamp(random).slice(0, 10), money(random), `0.${digits(random, 4)}`, digits(random, 8), random.between(0, 99_999)].join(
    ",",
  );

const logLine: Write = (random) =>
  pick(random, [
    `${timestamp(random)} INFO  [${camel(random)}] ${pick(random, VERBS)} ${pick(random, NOUNS)} ${hex(random, 12)} in ${random.between(1, 900)}ms`,
    `${timestamp(random)} WARN  [${camel(random)}] retry ${random.between(1, 5)}/5: connect ECONNREFUSED 10.0.${random.between(0, 255)}.${random.between(0, 255)}:${random.between(1024, 65_535)}`,
    `${timestamp(random)} ERROR [${camel(random)}] TypeError: Cannot read properties of undefined (reading '${camel(random)}')\n    at ${camel(random)} (/srv/app/dist/${snake(random)}.js:${random.between(1, 900)}:${random.between(1, 80)})`,
  ]);

const listing: Write = (random) =>
  times(
    random.between(5, 25),
    () =>
      `-rw-r--r-- 1 root root ${String(random.between(10, 999_999)).padStart(7)} Nov ${random.between(10, 28)} ${clock(random)} ${snake(random)}.ts`,
  ).join("\n");

const found: Write = (random) =>
  times(
    random.between(5, 20),
    () =>
      `src/${pick(random, NOUNS)}/${snake(random)}.ts:${random.between(1, 300)}:  const ${camel(random)} = ${camel(random)}(${camel(random)});`,
  ).join("\n");

const markup: Write = (random) =>
  times(
    random.between(4, 14),
    () =>
      `<li class="${pick(random, NOUNS)}-item" data-id="${hex(random, 8)}"><a href="/${pick(random, NOUNS)}s/${digits(random, 5)}?ref=${pick(random, NOUNS)}">${pick(random, VERBS)} ${pick(random, NOUNS)}</a></li>`,
  ).join("\n");

const diff: Write = (random) =>
  typescript(random)
    .split("\n")
    .map((line) => `${pick(random, [" ", " ", "+", "-"])}${line}`)
    .join("\n");

/** All kinds of results that an agent's tools return, one after another. */
export const toolOutput: Write = (random) =>
  pick(random, [
    prettyJson,
    compactJson,
    csv,
    (each: Random) => times(each.between(8, 30), () => logLine(each)).join("\n"),
    listing,
    found,
    markup,
    diff,
  ])(random);
