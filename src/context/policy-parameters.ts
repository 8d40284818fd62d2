/** A description of every parameter of a policy, read from the schema itself (`GET /v1/policies`). */
import { z } from "zod";
import { policySchema } from "./policy";

export interface PolicyParameter {
  /** The parameter's path, such as `keep.ratio`. */
  readonly path: string;
  readonly types: readonly string[];
  readonly minimum: number | null;
  readonly maximum: number | null;
  /** The allowed values, where they can be listed. Else null. */
  readonly values: readonly string[] | null;
  readonly description: string;
}

/** The subset of JSON Schema that the policy's schema uses. */
interface Node {
  readonly type?: string;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly anyOf?: readonly Node[];
  readonly properties?: Readonly<Record<string, Node>>;
}

let known: readonly PolicyParameter[] | null = null;

export function policyParameters(): readonly PolicyParameter[] {
  known ??= walk(z.toJSONSchema(policySchema) as Node, "");
  return known;
}

function walk(node: Node, path: string): PolicyParameter[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, child]) => {
    const at = path === "" ? name : `${path}.${name}`;
    return child.properties ? walk(child, at) : [toParameter(child, at)];
  });
}

/** zod bounds every integer by what a double holds exactly. Such a bound is not reported. */
const bound = (value: number | undefined): number | null => (value === undefined || !isOwn(value) ? null : value);
const isOwn = (value: number): boolean => Math.abs(value) < Number.MAX_SAFE_INTEGER;

function toParameter(node: Node, path: string): PolicyParameter {
  const branches = node.anyOf ?? [node];
  const first = <T>(pick: (branch: Node) => T | null): T | null =>
    branches.reduce<T | null>((found, branch) => found ?? pick(branch), null);
  const values = branches.flatMap((branch) => branch.enum ?? (branch.const === undefined ? [] : [branch.const]));
  return {
    path,
    types: branches.flatMap(({ type }) => (type === undefined ? [] : [type])),
    minimum: first((branch) => bound(branch.minimum)),
    maximum: first((branch) => bound(branch.maximum)),
    values: values.length > 0 ? values : null,
    description: node.description ?? "",
  };
}
