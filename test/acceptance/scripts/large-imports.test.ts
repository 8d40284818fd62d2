/** An import that is refused while most of its bytes are still to come, over the local server's own connection. */
import { expect, test } from "vitest";
import { openTenant } from "../../support/shared-server";

test("an import of 43 MB that is refused at its first line is answered with that line", { timeout: 120_000 }, async () => {
  const { url, key } = await openTenant();
  const body = new Uint8Array(43_000_000).fill("x".charCodeAt(0));
  body.set(new TextEncoder().encode("{broken\n"));

  for (let n = 0; n < 5; n++) {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/octet-stream" };
    const answer = await fetch(`${url}/v1/imports`, { method: "POST", headers, body });

    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ errors: [{ field: "body", detail: "line 1: is not JSON in UTF-8" }] });
  }
});
