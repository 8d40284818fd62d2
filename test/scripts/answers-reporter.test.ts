import { expect, test } from "vitest";
import { answersNeverMet } from "../support/answers-reporter.ts";

const documented = ["GET /healthz 200", "POST /v1/keys 201", "POST /v1/keys 409 key_limit", "POST /v1/keys 503 overloaded"];
const nothing = { documented, met: [] };

test("a documented answer that the Worker never gave is named, once", () => {
  const worker = [{ documented, met: ["GET /healthz 200", "GET /v1/keys 404 key_not_found"] }, nothing];

  expect(answersNeverMet({ worker, layer: null })).toEqual(["POST /v1/keys 201", "POST /v1/keys 409 key_limit"]);
});

test("files meet the document together", () => {
  const worker = [
    { documented, met: ["GET /healthz 200", "POST /v1/keys 409 key_limit"] },
    { documented, met: ["POST /v1/keys 201"] },
  ];
  expect(answersNeverMet({ worker, layer: null })).toEqual([]);
});

test("the HTTP layer shows faults of the service, and no other answer", () => {
  const worker = [{ documented, met: ["GET /healthz 200", "POST /v1/keys 201"] }];
  const layer = { documented, met: ["POST /v1/keys 409 key_limit"] };
  const faults = { documented, met: ["POST /v1/keys 503 overloaded"] };

  expect(answersNeverMet({ worker, layer: [layer] })).toEqual(["POST /v1/keys 409 key_limit", "POST /v1/keys 503 overloaded"]);
  expect(answersNeverMet({ worker, layer: [layer, faults] })).toEqual(["POST /v1/keys 409 key_limit"]);
});
