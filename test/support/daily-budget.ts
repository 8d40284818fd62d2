/** A budget of tokens for the whole tenant by day, with what a test says of it. */
import type { Budget } from "../../src/contract/limits";

export const daily = (amount: number, about: Partial<Budget> = {}): Budget => ({
  name: "daily",
  of: "tenant",
  period: "day",
  unit: "tokens",
  amount,
  purposes: "all",
  ...about,
});
