/** Every path of the document with the methods that it does not have. */
import { describe, expect, it } from "vitest";
import { ADMIN_KEY, fillPath, KEY, listRoutes, plainWorld, readProblem } from "./support";

const routes = listRoutes(plainWorld().app);
const paths = [...Map.groupBy(routes, ({ path }) => path)].map(
  ([path, same]) => [path, same.map(({ method }) => method).toSorted()] as const,
);
const keyFor = (path: string): string => (path.startsWith("/v1/admin/") ? ADMIN_KEY : KEY);
const METHODS = ["DELETE", "GET", "OPTIONS", "PATCH", "POST", "PUT"] as const;

describe.each(paths)("%s", (path, methods) => {
  // Two patterns match some paths, and each has methods of its own.
  const alike = paths.filter(([other]) => matches(other, path)).flatMap(([, each]) => each);
  const allowed = [...new Set([...methods, ...alike])].toSorted();

  it.each(METHODS.filter((method) => !allowed.includes(method)))("refuses %s, and says what it takes", async (method) => {
    const { app, asked } = plainWorld();
    const headers = { authorization: `Bearer ${keyFor(path)}` };

    const response = await app.request(fillPath(path).split("?")[0] ?? "", { method, headers });

    expect([response.status, response.headers.get("allow")]).toEqual([405, allowed.join(", ")]);
    expect((await readProblem(response)).type).toBe("urn:longhand:problem:method_not_allowed");
    expect(asked).toEqual({ tenants: [], sessions: [] });
  });

  it.each(methods.filter((method) => method === "GET"))("%s is answered to HEAD, too, as GET without a body", async () => {
    const ask = async (method: string) =>
      plainWorld().app.request(fillPath(path), { method, headers: { authorization: `Bearer ${keyFor(path)}` } });
    const [get, head] = [await ask("GET"), await ask("HEAD")];

    expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([get.status, get.headers.get("content-type"), ""]);
    await get.body?.cancel();
  });
});

/** True when a filled path of `path` is one of `pattern`, too. */
function matches(pattern: string, path: string): boolean {
  const [filled = ""] = fillPath(path).split("?");
  const [parts, given] = [pattern.split("/"), filled.split("/")];
  return parts.length === given.length && parts.every((part, index) => part.startsWith(":") || part === given[index]);
}
