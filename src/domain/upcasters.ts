/**
 * Converts old shapes of stored events, one version at a time. The input is JSON as it was stored; data that does not
 * have the old shape passes through and is validated where it is used.
 */
type Fields = Record<string, unknown>;
type Upcaster = (data: Fields) => Fields;

/** Keyed by `Type@from`: each upcaster converts version `from` to `from + 1`. */
export type Upcasters = Readonly<Record<string, Upcaster>>;

export const upcasters: Upcasters = {
  // A tenant's id is `tenant_id` wherever something else names it.
  "SessionOpened@1": ({ tenant, ...rest }) => ({ ...rest, tenant_id: tenant }),
};
