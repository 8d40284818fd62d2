/** Policies by level: the choices of the deployment, the tenant and the session, and the policy that is shown. */
import { describe, expect, it } from "vitest";
import type { SessionApi } from "../../src/app/session-api";
import type { TenantApi } from "../../src/app/tenant-api";
import type { PolicyChoice } from "../../src/context/policy-choice";
import { POLICY_NAMES, presets } from "../../src/context/presets";
import { ok } from "../../src/lib/result";
import { description, readProblem, SESSION, world } from "./support";

interface Listed {
  readonly data: readonly { readonly name: string; readonly kind: string; readonly policy?: unknown }[];
  readonly parameters?: readonly { readonly path: string; readonly description: string }[];
  readonly deployment: unknown;
}

const list = async (query = "", defaultPolicy: PolicyChoice = "balanced") =>
  (await world({ config: { defaultPolicy } }).call("GET", `/v1/policies${query}`)).json<Listed>();

describe("the policies", () => {
  it("are listed in a few lines each, the four profiles first, with the deployment's choice", async () => {
    const defaultPolicy: PolicyChoice = { preset: "opal", keep: { ratio: 0.3 } };
    const listed = await list("", defaultPolicy);

    const [profiles, others] = [listed.data.slice(0, 4), listed.data.slice(4)];
    expect(profiles.map(({ name }) => name)).toEqual(["balanced", "economy", "retain", "verbatim"]);
    expect(new Set(profiles.map(({ kind }) => kind))).toEqual(new Set(["profile"]));
    expect(others.map(({ kind }) => kind)).toEqual(others.map(() => "preset"));
    expect(listed.data.map(({ name }) => name).toSorted()).toEqual(POLICY_NAMES.toSorted());
    expect(listed.data[0]).toEqual({
      name: "balanced",
      kind: "profile",
      purpose: "Compaction that pays for itself, for most chat",
      compacts: expect.stringMatching(/^After a response, when the next request exceeds 85% of the window or 90% of what fits/),
      keeps: expect.stringMatching(
        /^The newest messages, up to 21% of what fits beside the reply, at most 8,000 tokens, and system messages/,
      ),
      figures: "docs/policy-figures.md",
    });
    expect(listed.deployment).toEqual(defaultPolicy);
  });

  it("show all their values and every parameter on request", async () => {
    expect(await list()).not.toHaveProperty("parameters");
    const listed = await list("?include=parameters");

    for (const { name, policy } of listed.data) expect(policy).toEqual(presets[name as keyof typeof presets]);
    expect(listed.parameters).toHaveLength(45);
    expect(listed.parameters?.find(({ path }) => path === "keep.ratio")?.description).toContain("verbatim");
  });

  it("refuse to include what they do not know", async () => {
    const refused = await world().call("GET", "/v1/policies?include=everything");

    expect(refused.status).toBe(400);
    expect((await readProblem(refused)).errors?.map(({ field }) => field)).toEqual(["include"]);
  });

  it.each(["/v1/policies", "/v1/policies?include=parameters", "/v1/policies?limit=1", "/v1/policies/opal"])(
    "%s has a strong etag, and is not sent again to a client that has it",
    async (path) => {
      const { call } = world();
      const first = await call("GET", path);
      const etag = first.headers.get("etag") ?? "";
      expect([first.status, etag]).toEqual([200, expect.stringMatching(/^"[0-9a-f]{16}"$/)]);
      expect(first.headers.get("cache-control")).toBe("private, no-cache");

      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const again = await call("GET", path, { headers: { "If-None-Match": known } });
        expect([known, again.status, again.headers.get("etag"), await again.text()]).toEqual([known, 304, etag, ""]);
      }
      for (const other of ['"other"', "not quoted", ""]) {
        expect([other, (await call("GET", path, { headers: { "If-None-Match": other } })).status]).toEqual([other, 200]);
      }
    },
  );

  it("have an etag of their own each, which moves with the deployment's choice in the list", async () => {
    const read = async (path: string, defaultPolicy: PolicyChoice = "balanced") =>
      (await world({ config: { defaultPolicy } }).call("GET", path)).headers.get("etag");
    const paths = ["/v1/policies", "/v1/policies?include=parameters", "/v1/policies?limit=1", "/v1/policies/opal", "/v1/policies/balanced"];

    const etags = await Promise.all(paths.map((path) => read(path)));

    expect(new Set(etags).size).toBe(paths.length);
    expect(await read("/v1/policies", "opal")).not.toBe(await read("/v1/policies"));
    expect(await read("/v1/policies/opal", "opal")).toBe(await read("/v1/policies/opal"));
  });

  it("are not shown to a client without a key, whatever copy it has", async () => {
    expect((await world().call("GET", "/v1/policies", { key: null, headers: { "If-None-Match": "*" } })).status).toBe(401);
  });

  it("are read one by one; another name is unknown", async () => {
    const one = await world().call("GET", "/v1/policies/yeoman");
    const none = await world().call("GET", "/v1/policies/yolo");

    expect(await one.json()).toMatchObject({ name: "yeoman", policy: presets.yeoman });
    expect(none.status).toBe(404);
  });
});

const named =
  (default_policy: string): TenantApi["settings"] =>
  async () =>
    ok({ name: "Acme", default_model: "embedded", default_policy, allowed_origins: [] });

describe("a new session's policy", () => {
  const levels: readonly [string, PolicyChoice, string, PolicyChoice | undefined, string][] = [
    ["the deployment's when no other level chooses one", "balanced", "", undefined, "balanced"],
    ["the tenant's before the deployment's", "balanced", "yeoman", undefined, "yeoman"],
    ["the session's before the tenant's", "balanced", "yeoman", "opal", "opal"],
    [
      "the tenant's, but for what the session names",
      "balanced",
      "yeoman",
      { keep: { messages: 6 } },
      '{"preset":"yeoman","keep":{"messages":6}}',
    ],
    [
      "the deployment's, but for what tenant and session name",
      { preset: "balanced", keep: { ratio: 0.2 } },
      '{"keep":{"max_tokens":4000}}',
      { keep: { min_tokens: 500 } },
      '{"preset":"balanced","keep":{"ratio":0.2,"max_tokens":4000,"min_tokens":500}}',
    ],
  ];

  it.each(levels)("is %s", async (_, defaultPolicy, ofTenant, policy, expected) => {
    const seen: string[] = [];
    const open: SessionApi["open"] = async (_caller, input) => {
      seen.push(input.policy);
      return ok(description());
    };
    const { call } = world({ config: { defaultPolicy }, session: { open }, tenant: { settings: named(ofTenant) } });

    await call("POST", "/v1/sessions", { body: { ...(policy && { policy }) } });

    expect(seen).toEqual([expected]);
  });

  it("of a patch is handed on as it was named", async () => {
    const seen: unknown[] = [];
    const patch: SessionApi["patch"] = async (_, input) => {
      seen.push(input);
      return ok(description());
    };
    await world({ session: { patch } }).call("PATCH", `/v1/sessions/${SESSION}`, { body: { policy: { keep: { ratio: 0.2 } } } });

    expect(seen).toEqual([{ policy: { keep: { ratio: 0.2 } } }]);
  });
});

describe("null as a patch's policy", () => {
  it.each([
    ["the deployment's", "", "opal"],
    ["the tenant's, over the deployment's", '{"keep":{"ratio":0.2}}', { preset: "opal", keep: { ratio: 0.2 } }],
  ])("goes back to %s choice, whole: it names a preset, so nothing of the session's stays", async (_, ofTenant, expected) => {
    const seen: unknown[] = [];
    const patch: SessionApi["patch"] = async (_caller, input) => {
      seen.push(input);
      return ok(description());
    };
    const { call } = world({ config: { defaultPolicy: "opal" }, session: { patch }, tenant: { settings: named(ofTenant) } });

    await call("PATCH", `/v1/sessions/${SESSION}`, { body: { policy: null } });

    expect(seen).toEqual([{ policy: expected, restoresPolicy: true }]);
  });
});

describe("instructions for summaries", () => {
  it("of deployment, tenant and session: the nearest applies, and those of the session itself are passed on apart", async () => {
    const seen: unknown[] = [];
    const open: SessionApi["open"] = async (_caller, input) => {
      seen.push([input.policy, input.summaryInstructions]);
      return ok(description());
    };
    const config = { defaultPolicy: { preset: "balanced", summary: { instructions: "Dates." } } } as const;
    const opened = async (ofTenant: string, body: object) => {
      await world({ config, session: { open }, tenant: { settings: named(ofTenant) } }).call("POST", "/v1/sessions", { body });
    };
    await opened("economy", {});
    await opened('{"summary":{"instructions":"Prices."}}', { policy: "economy" });
    await opened('{"summary":{"instructions":"Prices."}}', { policy: { summary: { instructions: null } }, summary_instructions: "Names." });

    expect(seen).toEqual([
      ['{"preset":"economy","summary":{"instructions":"Dates."}}', undefined],
      ['{"preset":"economy","summary":{"instructions":"Prices."}}', undefined],
      ['{"preset":"balanced","summary":{"instructions":null}}', "Names."],
    ]);
  });
});

describe("the tenant's default", () => {
  it.each([
    ["", null, presets.balanced],
    ["opal", "opal", presets.opal],
    ['{"keep":{"ratio":0.2}}', { keep: { ratio: 0.2 } }, { ...presets.balanced, keep: { ...presets.balanced.keep, ratio: 0.2 } }],
  ])("%j is shown with what it comes to", async (stored, chosen, effective) => {
    const { call } = world({ config: { defaultPolicy: "balanced" }, tenant: { settings: named(stored) } });

    expect(await (await call("GET", "/v1/tenant")).json()).toMatchObject({ default_policy: chosen, effective_policy: effective });
  });

  it("is a name, an object or null in a patch", async () => {
    const seen: unknown[] = [];
    const changeSettings: TenantApi["changeSettings"] = async (_, changes) => {
      seen.push(changes);
      return ok({ name: "Acme", default_model: "embedded", default_policy: "", allowed_origins: [] });
    };
    const { call } = world({ tenant: { changeSettings } });

    for (const default_policy of ["opal", { keep: { ratio: 0.2 } }, null]) await call("PATCH", "/v1/tenant", { body: { default_policy } });

    expect(seen).toEqual([{ default_policy: "opal" }, { default_policy: { keep: { ratio: 0.2 } } }, { default_policy: null }]);
  });
});

describe("a policy that contradicts itself", () => {
  const settings = named('{"preset":"balanced","keep":{"ratio":0.3}}');

  it("with what the tenant says is refused at the parameter that the client named, before the session is registered", async () => {
    const registerSession: TenantApi["registerSession"] = () => Promise.reject(new Error("must not be registered"));
    const { call } = world({ tenant: { settings, registerSession } });

    const response = await call("POST", "/v1/sessions", { body: { policy: { trigger: { window_ratio: 0.25 } } } });

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors?.map(({ field }) => field)).toEqual(["policy.trigger.window_ratio"]);
  });

  it("by the levels above is not the fault of a client that names none", async () => {
    const config = { defaultPolicy: { preset: "balanced", trigger: { window_ratio: 0.2 } } } as const;
    const open: SessionApi["open"] = async () => ok(description());
    const { call } = world({ config, session: { open }, tenant: { settings: named('{"keep":{"ratio":0.3}}') } });

    expect((await call("POST", "/v1/sessions", { body: {} })).status).toBe(201);
  });
});

describe("a policy that is none", () => {
  it.each([
    ["yolo", "policy"],
    [{ preset: "yolo" }, "policy.preset"],
    [{ keep: { ratio: 0.95 } }, "policy.keep.ratio"],
    [{ keep: { ratio: "a quarter" } }, "policy.keep.ratio"],
    [{ kept: { ratio: 0.2 } }, "policy.kept"],
    [{ keep: { share: 0.2 } }, "policy.keep.share"],
    [7, "policy"],
  ])("such as %j is refused by the parameter's name", async (policy, field) => {
    const response = await world().call("POST", "/v1/sessions", { body: { policy } });

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors?.map((each) => each.field)).toEqual([field]);
  });
});
