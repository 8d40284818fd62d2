/**
 * Draws a transcript as an animated SVG for a README: lines appear one after another, and then the animation repeats.
 * It uses CSS alone, because GitHub shows pictures without scripts and external fonts. Where animation is disabled or
 * unsupported, the complete transcript is shown.
 */
import type { Tone } from "../support/colour.ts";
import { COLUMNS, type Line, METER_CELLS, type Span, toMeterTone } from "./line.ts";

const CELL = { width: 8.1, height: 19, font: 13.5 };
const PADDING = 20;
const TITLE_BAR = 34;

const SECONDS = { line: 0.45, blank: 0.7, end: 7, fade: 0.25 };

/** Colours on the picture's own dark background, so that it is readable on light and on dark pages. */
const COLOURS: Readonly<Record<Tone, string>> = {
  plain: "#e6edf3",
  title: "#ffffff",
  quiet: "#8b949e",
  user: "#56d4dd",
  model: "#7ee787",
  warning: "#e3b341",
  compaction: "#d2a8ff",
  lookup: "#ffa657",
  past: "#79c0ff",
};

export function drawPicture(lines: readonly Line[]): string {
  const width = Math.round(COLUMNS * CELL.width + 2 * PADDING);
  const height = TITLE_BAR + lines.length * CELL.height + PADDING;
  const starts = planStartTimes(lines);
  const total = (starts.at(-1) ?? 0) + SECONDS.end;
  const rows = lines.map((line, index) => drawLine(line, index)).filter((row) => row !== "");
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>A run of npm run demo</title>
<style>
text{font:${CELL.font}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}
${Object.entries(COLOURS)
  .map(([tone, colour]) => `.${tone}{fill:${colour}}`)
  .join("")}
.title{font-weight:bold}
@media (prefers-reduced-motion:no-preference){
g{animation:${total.toFixed(2)}s linear infinite}
${starts.map((start, index) => buildKeyframes(index, (100 * start) / total, (100 * SECONDS.fade) / total)).join("\n")}
}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10" fill="#0d1117" stroke="#30363d"/>
<circle cx="22" cy="18" r="5.5" fill="#ff5f57"/><circle cx="41" cy="18" r="5.5" fill="#febc2e"/><circle cx="60" cy="18" r="5.5" fill="#28c840"/>
<text x="${width / 2}" y="22" text-anchor="middle" class="quiet">npm run demo</text>
${rows.join("\n")}
</svg>
`;
}

/** The time at which each line appears, in seconds. The first appears at once, and a blank line is a pause. */
function planStartTimes(lines: readonly Line[]): readonly number[] {
  let at = 0;
  return lines.map((line) => {
    const start = at;
    at += line.length === 0 ? SECONDS.blank : SECONDS.line;
    return start;
  });
}

const buildKeyframes = (index: number, start: number, fade: number): string =>
  start === 0
    ? ""
    : `#l${index}{animation-name:k${index}}@keyframes k${index}{0%,${start.toFixed(2)}%{opacity:0}${(start + fade).toFixed(2)}%,to{opacity:1}}`;

function drawLine(line: Line, index: number): string {
  if (line.length === 0) return "";
  const y = TITLE_BAR + (index + 1) * CELL.height;
  let column = 0;
  const drawn = line.map((span) => {
    const x = PADDING + column * CELL.width;
    column += span.type === "meter" ? METER_CELLS : span.text.length;
    return span.type === "meter" ? drawMeter(span.share, x, y) : drawText(span, x, y);
  });
  return `<g id="l${index}">${drawn.join("")}</g>`;
}

/** `textLength` keeps the columns aligned with any monospaced font. */
function drawText({ text, tone }: Extract<Span, { type: "text" }>, x: number, y: number): string {
  const shown = text.trimEnd();
  const indent = shown.length - shown.trimStart().length;
  const from = x + indent * CELL.width;
  const length = (shown.length - indent) * CELL.width;
  return `<text x="${round(from)}" y="${y}" textLength="${round(length)}" class="${tone}">${escapeXml(shown.trimStart())}</text>`;
}

function drawMeter(share: number, x: number, y: number): string {
  const bar = (cells: number, tone: Tone, opacity: string): string =>
    `<rect x="${round(x)}" y="${y - 11}" width="${round(cells * CELL.width)}" height="13" rx="2" class="${tone}"${opacity}/>`;
  return bar(METER_CELLS, "quiet", ' opacity=".25"') + bar(share * METER_CELLS, toMeterTone(share), "");
}

const round = (figure: number): string => String(Math.round(figure * 10) / 10);

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const escapeXml = (text: string): string => text.replaceAll(/[&<>]/g, (character) => ENTITIES[character] ?? character);
