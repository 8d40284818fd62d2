import { expect, it } from "vitest";
import type { ListedTenant } from "../../src/contract/deployment";
import type { TenantStatus } from "../../src/domain/tenant-status";
import { createNameAnnouncer } from "../../src/tenant/announce-name";
import { makeId } from "./support";

const change = (name: string, status: TenantStatus = "active") => ({
  status,
  database: "DB",
  tenant: makeId("ten", 1),
  created_at: 7,
  settings: { name, default_model: "embedded", default_policy: "", allowed_origins: [] },
  models: [],
});

it("a name is announced once, and each new one again", async () => {
  const listed: ListedTenant[] = [];
  const announce = createNameAnnouncer(async (tenant) => listed.push(tenant));

  for (const name of ["Ada", "Ada", "Eve", "Eve", "Ada"]) await announce(change(name));

  expect(listed.map(({ name }) => name)).toEqual(["Ada", "Eve", "Ada"]);
  expect(listed[0]).toEqual({ id: makeId("ten", 1), name: "Ada", created_at: 7, status: "active", database: "DB" });
});

it("a status is announced like a name", async () => {
  const listed: ListedTenant[] = [];
  const announce = createNameAnnouncer(async (tenant) => listed.push(tenant));

  for (const status of ["active", "suspended", "suspended", "active"] as const) await announce(change("Ada", status));

  expect(listed.map(({ status }) => status)).toEqual(["active", "suspended", "active"]);
});

it("a name that was not accepted is announced again, and its failure is passed on", async () => {
  let isDown = true;
  const heard: string[] = [];
  const announce = createNameAnnouncer(async ({ name }) => {
    heard.push(name);
    if (isDown) throw new Error("moved");
  });

  await expect(announce(change("Ada"))).rejects.toThrow("moved");
  isDown = false;
  await announce(change("Ada"));
  await announce(change("Ada"));

  expect(heard).toEqual(["Ada", "Ada"]);
});
