/**
 * For drizzle-kit's read-only commands (`drizzle-kit export` prints what the schema would be as SQL). The migrations
 * are written by hand and only ever appended to; a test compares them with the schema, column by column.
 */
import { defineConfig } from "drizzle-kit";

export default defineConfig({ dialect: "sqlite", schema: "./src/read-model/schema.ts", out: "./.longhand/drizzle" });
