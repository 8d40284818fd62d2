import { describe, expect, test } from "vitest";
import { type Env, parseConfig } from "../src/env";

const configured = (change: Partial<Env>) => parseConfig({ KEY_PEPPER: "a-pepper-for-tests-only", ...change } as Env);

describe("the deployment's configuration", () => {
  test("has a default policy of its own", () => {
    expect(configured({}).POLICY).toBe("oneclaw");
  });

  test("takes a policy by name, or as JSON that says what differs", () => {
    expect(configured({ POLICY: "balanced" }).POLICY).toBe("balanced");
    expect(configured({ POLICY: '{"preset":"opal","keep":{"ratio":0.3}}' }).POLICY).toEqual({ preset: "opal", keep: { ratio: 0.3 } });
  });

  test.each([
    ["a name that nobody knows", "yolo", /POLICY: Invalid option/],
    ["a value out of bounds", '{"keep":{"ratio":7}}', /POLICY: keep\.ratio/],
    ["values that contradict each other", '{"keep":{"ratio":0.9}}', /POLICY: keep\.ratio/],
  ])("that is wrong says so at once, with the variable's and the parameter's name: %s", (_, POLICY, said) => {
    expect(() => configured({ POLICY })).toThrow(said);
  });
});
