/** The name of a thrown value's class, for a log line. The message stays out, because it may hold content. */
export const toErrorName = (error: unknown): string => (error instanceof Error ? error.name : "unknown");
