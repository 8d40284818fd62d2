import { afterEach, describe, expect, it, vi } from "vitest";
import { createLog } from "../../src/lib/log";

/** The one line that `print` wrote to `method`, parsed. */
function readLine(method: "log" | "warn" | "error", print: () => void): Record<string, unknown> {
  const spy = vi.spyOn(console, method).mockImplementation(() => {});
  print();
  expect(spy).toHaveBeenCalledTimes(1);
  const line: unknown = JSON.parse(String(spy.mock.calls[0]?.[0]));
  return { ...Object(line) };
}

afterEach(() => vi.restoreAllMocks());

describe("the log", () => {
  it("writes one line of JSON with the log's fields and the event's", () => {
    const line = readLine("log", () => createLog({ component: "tenant" }).info("key.added", { key: "key_1", count: 2 }));
    expect(line).toMatchObject({ level: "info", event: "key.added", component: "tenant", key: "key_1", count: 2 });
  });

  it("warnings and errors go where the platform counts them", () => {
    expect(readLine("warn", () => createLog().warn("a")).level).toBe("warn");
    expect(readLine("error", () => createLog().error("b")).level).toBe("error");
  });

  it("no field can pass for the level or the event", () => {
    const line = readLine("log", () => createLog({ level: "error" }).info("real", { event: "forged", time: 0 }));
    expect(line).toMatchObject({ level: "info", event: "real" });
    expect(line.time).not.toBe(0);
  });

  it("shows an error by its name, never its message", () => {
    const line = readLine("log", () => createLog().info("failed", { cause: new TypeError("the prompt was: secret") }));
    expect(line.cause).toBe("TypeError");
  });

  it("prints no objects and cuts long text", () => {
    const line = readLine("log", () => createLog().info("x", { body: { text: "secret" }, long: "s".repeat(5_000), ids: ["a", { b: 1 }] }));
    expect(line).toMatchObject({ body: "[object]", ids: ["a", "[object]"] });
    expect(String(line.long).length).toBeLessThan(300);
  });

  it("whatever value comes, it does not throw", () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const line = readLine("log", () => createLog().info("x", { circular, big: 10n, none: undefined, nan: Number.NaN, fn: () => 1 }));
    expect(line).toMatchObject({ circular: "[object]", big: "10", nan: null, fn: "[function]" });
  });
});
