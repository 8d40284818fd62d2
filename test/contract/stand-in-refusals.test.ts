/** The stand-ins refuse what the providers refuse. Otherwise an accepted request would prove nothing. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ProviderStandIn, startProvider } from "../support/stand-in/providers/provider-server.ts";
import { anthropicRefusals } from "./refusals/anthropic.ts";
import { chatRefusals } from "./refusals/chat.ts";
import { googleRefusals } from "./refusals/google.ts";
import { responsesRefusals } from "./refusals/responses.ts";

describe.each([anthropicRefusals, responsesRefusals, chatRefusals, googleRefusals])(
  "the stand-in of $name",
  ({ dialect, path, headers, taken, changes }) => {
    let standIn: ProviderStandIn;
    beforeAll(async () => {
      standIn = await startProvider(dialect);
    });
    afterAll(() => standIn.close());

    const post = (body: unknown, sent: Readonly<Record<string, string>> = headers) =>
      fetch(`${standIn.baseUrl}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...sent },
        body: JSON.stringify(body),
      });

    it("takes a request that is right", async () => {
      standIn.enqueue({ blocks: [{ type: "text", text: "Hello." }] });
      const answer = await post(taken);
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("Hello.")]);
    });

    it("refuses one without a key, and one with a wrong key", async () => {
      const name = Object.keys(headers)[0] ?? "";
      const answers = [await post(taken, {}), await post(taken, { ...headers, [name]: "Bearer wrong" })];
      expect(answers.map(({ ok }) => ok)).toEqual([false, false]);
      expect(await answers[1]?.text()).toMatch(/key/i);
    });

    it.each(changes)("refuses %s", async (_, change, words) => {
      const answer = await post({ ...taken, ...change });
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(words)]);
    });
  },
);
