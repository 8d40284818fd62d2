/** Documented answers that no test causes, each with the reason. Keep it short: a reader of the document may rely on what is listed. */
export const NEVER_ANSWERED: ReadonlyMap<string, string> = new Map([
  ["GET /healthz 500 internal", "It looks at nothing that can fail. A client must expect it nevertheless."],
  ["GET /openapi.json 500 internal", "It is made of the code alone. A client must expect it nevertheless."],
  ["GET /docs 404 not_found", "The tests' deployment has its files; `test/http/docs.test.ts` has one without."],
  ["POST /v1/files 408 upload_too_slow", "It takes minutes; the tests of the HTTP layer move their own clock."],
]);
