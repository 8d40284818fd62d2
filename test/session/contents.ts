/** The contents of a life's database, and the search for an item in it. */
import type { ItemId } from "../../src/domain/ids";
import { CALLER, type Life } from "./life";

/** Every text of every table, except the terms of the full-text index. */
export function everything(life: Life): string {
  const tables = life.sql.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'recall%'");
  return tables.map(({ name }) => JSON.stringify(life.sql.all(`SELECT * FROM ${name}`))).join("\n");
}

export async function findId(life: Life, text: string): Promise<ItemId> {
  const page = await life.service.items(CALLER, { after: null, limit: 200, order: "asc", branch: "all" });
  const found = page.ok && page.value.data.find(({ content, tool_calls }) => JSON.stringify([content, tool_calls]).includes(text));
  if (!found) throw new Error(`there is no message ${text}`);
  return found.id;
}
