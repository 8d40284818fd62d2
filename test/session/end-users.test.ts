/** A caller that is limited to one end user: the session's object answers it only for sessions of that end user. */
import { expect, test } from "vitest";
import type { WholeSessionApi } from "../../src/app/control-api";
import { id } from "../support/builders";
import { CALLER, Life } from "./life";

const ADA = { ...CALLER, end_user: "李雷" };
const page = { after: null, limit: 10, order: "asc" } as const;

const calls: readonly (readonly [string, (api: WholeSessionApi) => Promise<{ readonly ok: boolean }>])[] = [
  ["describe", (api) => api.describe(ADA)],
  ["items", (api) => api.items(ADA, page)],
  ["events", (api) => api.events(ADA, page)],
  ["stream", (api) => api.stream(ADA, { after: null, turn: null })],
  ["follow", (api) => api.follow(ADA, { after: null, turn: id("trn", 1) })],
  ["patch", (api) => api.patch(ADA, { title: "mine" })],
  ["stop", (api) => api.stop(ADA, { idempotency: null })],
  ["erase", (api) => api.erase(ADA)],
];

async function openFor(end_user: string | null): Promise<Life> {
  const life = new Life();
  await life.open();
  await life.service.patch(CALLER, { end_user });
  return life;
}

test.each(calls)("%s of a session of another end user, or of none, is of an unknown session", async (_, call) => {
  for (const other of ["韩梅梅", "李雷 ", null]) {
    const life = await openFor(other);
    const before = life.events();

    expect(await call(life.service)).toEqual({ ok: false, error: { code: "session_not_found" } });
    expect(life.events()).toEqual(before);
  }
});

test("a session of the end user is answered, until it is given to another one", async () => {
  const life = await openFor("李雷");
  const isAnswered = async () => (await life.service.describe(ADA)).ok;
  expect(await isAnswered()).toBe(true);

  await life.service.patch(CALLER, { end_user: "韩梅梅" });
  expect(await isAnswered()).toBe(false);

  await life.service.patch(CALLER, { end_user: "李雷" });
  expect(await isAnswered()).toBe(true);
});
