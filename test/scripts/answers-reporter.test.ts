import { expect, test } from "vitest";
import { successesNeverMet } from "../support/answers-reporter.ts";

const documented = ["GET /healthz 200", "POST /v1/keys 201"];

test("a documented success that no file has met is named, once", () => {
  const files = [
    { documented, met: ["GET /healthz 200", "GET /v1/keys 404"] },
    { documented, met: [] },
  ];
  expect(successesNeverMet(files)).toEqual(["POST /v1/keys 201"]);
});

test("files meet the document together", () => {
  const files = [
    { documented, met: ["GET /healthz 200"] },
    { documented, met: ["POST /v1/keys 201"] },
  ];
  expect(successesNeverMet(files)).toEqual([]);
});
