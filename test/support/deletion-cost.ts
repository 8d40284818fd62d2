/** What one step of an erasure may cost, whatever the tenant's size (`src/tenant/erasure/erasures.ts`). */
import type { Cost } from "./counted-sql";

/** The most sessions that one alarm erases. */
export const AN_ALARM = 200;
/** Statements and written rows of the object for each session of one erasure: its note, its turn, and its end. */
const OF_A_SESSION = { statements: 16, written: 10 };
/** What a step costs beside its sessions. */
const OF_A_STEP = 500;
/** A tombstone and a row of the list for each session that an alarm hides. */
export const MOST_D1_ROWS = 2 * AN_ALARM;

/** The most that so many sessions cost in so many steps. */
export const findMostCost = (sessions: number, steps = 1): Cost => ({
  statements: sessions * OF_A_SESSION.statements + steps * OF_A_STEP,
  written: sessions * OF_A_SESSION.written + steps * OF_A_STEP,
  read: sessions * OF_A_SESSION.statements + steps * OF_A_STEP,
});

export const isWithin = (cost: Cost, most: Cost): boolean =>
  cost.statements <= most.statements && cost.written <= most.written && cost.read <= most.read;
