import type { RenderedText } from "../../app/channels/channel";
export const escapeMrkdwn = (text: string): string => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
export const renderMrkdwn = (markdown: string): RenderedText => ({ text: escapeMrkdwn(markdown), plain: markdown });
