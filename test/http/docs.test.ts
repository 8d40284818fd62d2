import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readProblem, world } from "./support";

const html = readFileSync("assets/docs/index.html", "utf8");
/** Addresses in attributes of the page, without those that are data. */
const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)]
  .map(([, address = ""]) => address)
  .filter((text) => !text.startsWith("data:"));

const TYPES: Readonly<Record<string, string>> = { html: "text/html", js: "text/javascript", css: "text/css", txt: "text/plain" };

function answer(name: string, status = 200): Response {
  const type = TYPES[name.split(".").at(-1) ?? ""] ?? "";
  return new Response(status === 200 ? name : null, { status, headers: { "content-type": type, etag: '"1"' } });
}

describe("the reference page", () => {
  it("needs no key, runs its own files only, and can be framed by no other page", async () => {
    const { call } = world({ deps: { readDocsFile: async (name) => answer(name) } });

    const response = await call("GET", "/docs", { key: null });

    expect([response.status, await response.text()]).toEqual([200, "index.html"]);
    const policy = response.headers.get("content-security-policy")?.split("; ") ?? [];
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"]),
    );
    expect(policy.join()).not.toMatch(/unsafe|https?:|\*/);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("asks nothing of another site, and has no script or style inside it", () => {
    expect(addresses.filter((address) => !address.startsWith("/"))).toEqual([]);
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bstyle=|\son[a-z]+=/);
    expect(readFileSync("assets/docs/start.js", "utf8")).not.toMatch(/https?:/);
  });

  it("names files that are served, and no other is", async () => {
    const { call } = world({ deps: { readDocsFile: async (name) => answer(name) } });
    const files = addresses.filter((address) => address.startsWith("/docs/"));

    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const file of files) {
      expect([file, (await call("GET", file, { key: null })).status, existsSync(`assets${file}`)]).toEqual([file, 200, true]);
    }
    for (const file of ["index.html", "x.js", "..%2Fwrangler.toml"]) {
      expect([file, (await call("GET", `/docs/${file}`, { key: null })).status]).toEqual([file, 404]);
    }
  });

  it("is not sent again to a client that has it", async () => {
    const known: (string | null)[] = [];
    const { call } = world({
      deps: {
        readDocsFile: async (name, headers) => {
          known.push(headers.get("if-none-match"));
          return answer(name, 304);
        },
      },
    });

    const response = await call("GET", "/docs", { key: null, headers: { "if-none-match": '"1"' } });

    expect([response.status, response.headers.get("etag"), known]).toEqual([304, '"1"', ['"1"']]);
  });

  it("is found at the address with a slash, which no other path has", async () => {
    const { app, call } = world();
    // The address is no operation of the document.
    const led = await app.request("/docs/");
    const other = await readProblem(await call("GET", "/v1/sessions/"));

    expect([led.status, led.headers.get("location")]).toEqual([308, "/docs"]);
    expect([other.status, other.detail]).toEqual([404, "There is no such resource. There is one without the slash at the end."]);
  });

  it("is unknown in a deployment without its files", async () => {
    const response = await world().call("GET", "/docs", { key: null });

    expect([response.status, (await readProblem(response)).type]).toEqual([404, "urn:longhand:problem:not_found"]);
  });
});
