/**
 * The items of OpenAI's Responses and Conversations that we answer with.
 */
type Status = "completed" | "incomplete";

interface InputText {
  readonly type: "input_text";
  readonly text: string;
}
interface OutputText {
  readonly type: "output_text";
  readonly text: string;
  readonly annotations: readonly never[];
}
interface InputImage {
  readonly type: "input_image";
  readonly detail: "auto";
  readonly image_url: string | null;
  readonly file_id: string | null;
}
interface InputFile {
  readonly type: "input_file";
  readonly file_url?: string;
  readonly file_id?: string;
  readonly filename?: string;
}
export type ContentItem = InputText | OutputText | InputImage | InputFile;

interface MessageItem {
  readonly type: "message";
  readonly id: string;
  readonly role: "user" | "assistant" | "system";
  readonly status: Status;
  readonly content: readonly ContentItem[];
}
interface ReasoningItem {
  readonly type: "reasoning";
  readonly id: string;
  readonly status: Status;
  readonly summary: readonly { readonly type: "summary_text"; readonly text: string }[];
}
interface CallItem {
  readonly type: "function_call";
  readonly id: string;
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
  readonly status: Status;
  readonly namespace?: string;
}
/** A call of a tool that takes free text. */
export interface CustomCallItem {
  readonly type: "custom_tool_call";
  readonly id: string;
  readonly call_id: string;
  readonly name: string;
  readonly input: string;
  readonly status: Status;
  readonly namespace?: string;
}
interface OutputItem {
  readonly type: "function_call_output";
  readonly id: string;
  readonly call_id: string;
  readonly output: string;
  /** `incomplete`: the tool failed. OpenAI has no other word for it. */
  readonly status: Status;
}
/** A call that the server ran, with its result. */
export interface ServerCallItem {
  readonly type: "mcp_call";
  readonly id: string;
  readonly server_label: string;
  readonly name: string;
  readonly arguments: string;
  readonly output: string | null;
  readonly error: {
    readonly type: "mcp_tool_execution_error";
    readonly content: readonly { readonly type: "text"; readonly text: string }[];
  } | null;
  readonly status: Status | "failed";
  /** A person was asked before it ran. Such a call is an item of its own, beside the request. */
  readonly approval_request_id?: string;
}
/** A call that the server runs once a person approves it. */
interface ApprovalRequestItem {
  readonly type: "mcp_approval_request";
  readonly id: string;
  readonly server_label: string;
  readonly name: string;
  readonly arguments: string;
}
/** The person's answer, which came from the client. */
export interface ApprovalResponseItem {
  readonly type: "mcp_approval_response";
  readonly id: string;
  readonly approval_request_id: string;
  readonly approve: boolean;
  /** The reason of a refusal is in the error of its call. */
  readonly reason: null;
}
/** What stands for the conversation before it. */
export interface CompactionItem {
  readonly type: "compaction";
  readonly id: string;
  readonly encrypted_content: string;
}
export type OpenAiItem =
  | MessageItem
  | ReasoningItem
  | CallItem
  | CustomCallItem
  | OutputItem
  | ServerCallItem
  | ApprovalRequestItem
  | ApprovalResponseItem
  | CompactionItem;
