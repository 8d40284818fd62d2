/** What every answer must tell browsers. The tests' clients call it for each answer that they get. */
export interface Reached {
  readonly path: string;
  /** The deployment's own address. Null: not set. */
  readonly publicUrl: string | null;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
const isFile = (path: string): boolean => /^\/v1\/files\/[^/]+\/content$/.test(path);

/** What is missing or wrong in the headers of the answer. Empty: nothing. */
export function findUnsafeHeaders({ headers, status }: Response, { path, publicUrl }: Reached): readonly string[] {
  const has = (name: string, pattern: RegExp): boolean => pattern.test(headers.get(name) ?? "");
  const page = path.split("?")[0] ?? "";
  // Another origin may show a file that it has an address of.
  const shared = isFile(page) && (status === 200 || status === 304) ? /^cross-origin$/ : /^same-origin$/;
  const wanted: readonly (readonly [string, RegExp])[] = [
    ["x-request-id", REQUEST_ID],
    ["x-content-type-options", /^nosniff$/],
    ["referrer-policy", /^no-referrer$/],
    ["content-security-policy", /^default-src 'none'.*; frame-ancestors 'none'/],
    ["cross-origin-resource-policy", shared],
    ["cache-control", /./],
    ["strict-transport-security", publicUrl?.startsWith("https:") ? /^max-age=31536000$/ : /^$/],
  ];
  return wanted.filter(([name, pattern]) => !has(name, pattern)).map(([name]) => `${status} ${page}: ${name} is ${headers.get(name)}`);
}
