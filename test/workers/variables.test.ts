/** A developer's own variables must not reach the tests: `npm test` says the same on every machine. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { TEST_VARIABLES } from "../support/test-variables";

it("every variable of the configuration is the one that the tests state", () => {
  const variables: Readonly<Record<string, unknown>> = { ...env };
  const seen = Object.fromEntries(Object.keys(TEST_VARIABLES).map((name) => [name, variables[name]]));
  expect(seen).toEqual(TEST_VARIABLES);
});
