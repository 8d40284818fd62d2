import { assertNever } from "../../lib/assert-never";
import { type MarkdownInline, toWords } from "./markdown";

type MarkName = "strong" | "emphasis" | "strikethrough" | "code";

/** How a platform writes what it formats. */
export interface MarkupStyle {
  /** What stands before and behind the formatted words. Empty: the platform does not format them. */
  readonly marks: Readonly<Record<MarkName, string>>;
  /** Stands in a line above and below a code block. Empty: code is written as text. */
  readonly fence: string;
  /** Code as the platform reads it. */
  readonly escapeCode: (text: string) => string;
  /** Prose as the platform reads it. */
  readonly write: (text: string) => string;
  readonly link: (url: string, label: string) => string;
}

type Piece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "open" | "close"; readonly mark: string }
  | { readonly type: "break" };

/** Platforms format only between characters that are no letters, so this one without width stands where a letter does. */
const JOINT = "\u200b";
const MAY_PRECEDE = /[\s([{"'*_~-]$/;
const MAY_FOLLOW = /^[\s)\]}"'.,;:!?*_~-]/;

export function writeInlines(nodes: readonly MarkdownInline[], style: MarkupStyle): string {
  const pieces: Piece[] = [];
  collect(nodes, { style, open: [], pieces });
  return joinPieces(closeAtBreaks(pieces));
}

interface Walk {
  readonly style: MarkupStyle;
  readonly open: readonly MarkName[];
  readonly pieces: Piece[];
}

function collect(nodes: readonly MarkdownInline[], walk: Walk): void {
  for (const node of nodes) collectOne(node, walk);
}

function collectOne(node: MarkdownInline, { style, open, pieces }: Walk): void {
  const { marks, write, escapeCode, link } = style;
  switch (node.type) {
    case "text":
      return void pieces.push({ type: "text", text: write(node.text) });
    case "break":
      return void pieces.push({ type: "break" });
    case "image":
      return void pieces.push({ type: "text", text: link(node.url, node.alt) });
    case "link":
      return void pieces.push({ type: "text", text: link(node.url, toWords(node.children)) });
    case "code": {
      // Code that has a backtick would end at it. It stays readable as prose.
      const mark = node.text.includes("`") || node.text.trim() === "" ? "" : marks.code;
      return void pieces.push(...wrap(mark, [{ type: "text", text: mark === "" ? write(node.text) : escapeCode(node.text) }]));
    }
    case "strong":
    case "emphasis":
    case "strikethrough": {
      // Two marks of one kind, one in the other, would end each other.
      const inner: Piece[] = [];
      collect(node.children, { style, open: [...open, node.type], pieces: inner });
      return void pieces.push(...wrap(open.includes(node.type) ? "" : marks[node.type], inner));
    }
    default:
      return assertNever(node);
  }
}

function wrap(mark: string, pieces: readonly Piece[]): readonly Piece[] {
  return mark === "" ? pieces : [{ type: "open", mark }, ...pieces, { type: "close", mark }];
}

/** Formatting ends with the line, so each line opens what goes on. A mark around nothing is left out. */
function closeAtBreaks(pieces: readonly Piece[]): readonly Piece[] {
  const done: Piece[] = [];
  const open: string[] = [];
  const end = (mark: string): void => {
    if (done.at(-1)?.type === "open") done.pop();
    else done.push({ type: "close", mark });
  };
  for (const piece of pieces) {
    if (piece.type === "text") {
      if (piece.text !== "") done.push(piece);
    } else if (piece.type === "open") {
      open.push(piece.mark);
      done.push(piece);
    } else if (piece.type === "close") {
      open.pop();
      end(piece.mark);
    } else {
      for (const mark of open.toReversed()) end(mark);
      done.push(piece, ...open.map((mark) => ({ type: "open", mark }) as const));
    }
  }
  return done;
}

function joinPieces(pieces: readonly Piece[]): string {
  let text = "";
  for (const [index, piece] of pieces.entries()) {
    const before = pieces[index - 1];
    const after = pieces[index + 1];
    if (piece.type === "text") text += piece.text;
    else if (piece.type === "break") text += "\n";
    else if (piece.type === "open") text += (needsJointBefore(before) ? JOINT : "") + piece.mark;
    else text += piece.mark + (after?.type === "text" && !MAY_FOLLOW.test(after.text) ? JOINT : "");
  }
  return text;
}

const needsJointBefore = (before: Piece | undefined): boolean =>
  before?.type === "close" || (before?.type === "text" && !MAY_PRECEDE.test(before.text));
