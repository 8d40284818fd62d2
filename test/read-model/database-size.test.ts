import { expect, it } from "vitest";
import { MAX_DATABASE_BYTES } from "../../src/app/placement";
import type { Log } from "../../src/app/ports";
import { warnOfSize } from "../../src/read-model/database-size";
import { SimD1 } from "../simulation/sim-d1";

const HOUR_MS = 60 * 60_000;

function given() {
  const lines: (readonly [string, unknown])[] = [];
  const db = new SimD1().direct;
  const log: Log = { info: () => {}, warn: (event, fields) => void lines.push([event, fields]), error: () => {} };
  const write = (share: number, now: number) =>
    warnOfSize({ DB: new SimD1().direct, DB_2: db }, { db, bytes: share * MAX_DATABASE_BYTES, now, log });
  return { lines, write };
}

it("a database that fills is named in the log when it reaches a level, and then once an hour", () => {
  const { lines, write } = given();

  write(0.49, 0);
  write(0.5, 1);
  write(0.51, HOUR_MS);
  write(0.52, HOUR_MS + 1);
  write(0.9, HOUR_MS + 2);

  expect(lines).toEqual([
    ["d1.size", { database: "DB_2", level: "high", bytes: 0.5 * MAX_DATABASE_BYTES }],
    ["d1.size", { database: "DB_2", level: "high", bytes: 0.52 * MAX_DATABASE_BYTES }],
    ["d1.size", { database: "DB_2", level: "critical", bytes: 0.9 * MAX_DATABASE_BYTES }],
  ]);
});
