/** The OpenAPI document of this checkout, without a server. It is the document that `GET /openapi.json` serves. */
import { createApp } from "../../src/http/app.ts";
import { appWithoutObjects } from "./no-objects.ts";
import { Failure } from "./output.ts";

export async function readOpenApi(): Promise<string> {
  const response = await createApp(appWithoutObjects).request("/openapi.json");
  if (response.status !== 200) throw new Failure(`GET /openapi.json answered ${response.status}`);
  return JSON.stringify(await response.json(), null, 2);
}
