/** What an admin key may do. Each role includes those before it. */
export const ADMIN_ROLES = ["read", "operate", "own"] as const;
export type AdminRole = (typeof ADMIN_ROLES)[number];

export const includesRole = (held: AdminRole, needed: AdminRole): boolean => ADMIN_ROLES.indexOf(held) >= ADMIN_ROLES.indexOf(needed);
