import { expect, test } from "vitest";
import { answersNeverMet } from "../support/answers-reporter.ts";

const documented = ["GET /healthz 200", "POST /v1/keys 201", "POST /v1/keys 503 overloaded"];
const nothing = { documented, met: [] };

test("a documented answer that the Worker never gave is named, once", () => {
  const worker = [{ documented, met: ["GET /healthz 200", "GET /v1/keys 404 key_not_found"] }, nothing];

  expect(answersNeverMet({ worker, layer: null })).toEqual(["POST /v1/keys 201"]);
});

test("files meet the document together", () => {
  const worker = [
    { documented, met: ["GET /healthz 200"] },
    { documented, met: ["POST /v1/keys 201"] },
  ];
  expect(answersNeverMet({ worker, layer: null })).toEqual([]);
});

test("the HTTP layer shows faults of the service, and no success", () => {
  const worker = [{ documented, met: ["GET /healthz 200"] }];
  const layer = [{ documented, met: ["POST /v1/keys 201"] }];

  expect(answersNeverMet({ worker, layer })).toEqual(["POST /v1/keys 201", "POST /v1/keys 503 overloaded"]);
  expect(answersNeverMet({ worker, layer: [{ documented, met: ["POST /v1/keys 503 overloaded"] }] })).toEqual(["POST /v1/keys 201"]);
});
