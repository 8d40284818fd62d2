/** What each operation that changes something, or that an admin reads with, leaves in the audit log. A test holds the table to the OpenAPI document. */
import type { AuditEntry } from "../../src/contract/audit";

/** The action of an operation's entry, by the name of the operation. */
export const AUDITED: Readonly<Record<string, AuditEntry["action"]>> = {
  createTenant: "tenant.created",
  rebuildTenant: "tenant.rebuilt",
  suspendTenant: "tenant.suspended",
  resumeTenant: "tenant.resumed",
  moveTenant: "tenant.move_begun",
  cancelTenantMove: "tenant.move_cancelled",
  updateTenant: "settings.changed",
  createKey: "key.created",
  createTenantKey: "key.created",
  rotateKey: "key.rotated",
  revokeKey: "key.revoked",
  putModel: "model.put",
  deleteModel: "model.deleted",
  putCredential: "credential.put",
  deleteCredential: "credential.deleted",
  rotateCredentials: "credentials.resealed",
  putTool: "tool.put",
  deleteTool: "tool.deleted",
  putMcpServer: "mcp_server.put",
  refreshMcpServer: "mcp_server.refreshed",
  deleteMcpServer: "mcp_server.deleted",
  deleteFile: "file.deleted",
  exportSessionLog: "content.read_by_admin",
  rebuildSession: "session.rebuilt",
};

const CHAT = "chat";
const READS = "changes nothing, and shows no content to an admin";
const UNSTORED = "makes a signed text that is stored nowhere and ends by itself";
/** The session's own log has these acts, without the key that asked for them. */
const OF_SESSION = "an act in a session, which is not in the audit log yet";
const OF_ERASURE = "an erasure has a receipt of its own, which names no caller yet";
const OF_EXPORT = "an export or import, which is listed for itself and not in the audit log yet";
const OF_DEPLOYMENT = "an act on the deployment, which has no audit log yet";

/** Why an operation leaves no entry. */
export const NOT_AUDITED: Readonly<Record<string, string>> = {
  createSession: CHAT,
  getOrCreateSession: CHAT,
  sendMessage: CHAT,
  importMessages: CHAT,
  cancelMessage: CHAT,
  submitToolResults: CHAT,
  resolveApprovals: CHAT,
  respond: CHAT,
  stopTurn: CHAT,
  retryTurn: CHAT,
  switchBranch: CHAT,
  editMessage: CHAT,
  regenerateMessage: CHAT,
  forkSession: CHAT,
  uploadFile: CHAT,
  searchSessions: READS,
  previewContext: READS,
  recallByBody: READS,
  compareSummaries: READS,
  evaluatePolicy: READS,
  listTenants: READS,
  listAdminKeys: READS,
  getAdminKey: READS,
  listPlans: READS,
  getPlan: READS,
  listDatabases: READS,
  getTenantMove: READS,
  getTenantErasure: READS,
  getTenantExport: READS,
  listTenantSessions: READS,
  probeModel: "stores a suggestion beside a model, and changes nothing that applies",
  createAccessToken: UNSTORED,
  signFileUrl: UNSTORED,
  updateSession: OF_SESSION,
  eraseSession: OF_SESSION,
  eraseEndUser: OF_ERASURE,
  deleteTenant: OF_ERASURE,
  createExport: OF_EXPORT,
  deleteExport: OF_EXPORT,
  importSessions: OF_EXPORT,
  redactMessage: OF_SESSION,
  rewindSession: OF_SESSION,
  createCompaction: OF_SESSION,
  revertCompaction: OF_SESSION,
  editDraft: OF_SESSION,
  commitDraft: OF_SESSION,
  discardDraft: OF_SESSION,
  resetSummary: OF_SESSION,
  setPins: OF_SESSION,
  createAdminKey: OF_DEPLOYMENT,
  revokeAdminKey: OF_DEPLOYMENT,
  rotateAdminKey: OF_DEPLOYMENT,
  rebuildTenantList: OF_DEPLOYMENT,
  putPlan: OF_DEPLOYMENT,
  assignPlan: OF_DEPLOYMENT,
  deletePlan: OF_DEPLOYMENT,
};
