/** A picture of one column: the true tokens of each request, with one line for each policy and the window above them. */
import type { ColumnReport } from "./report.ts";

const WIDTH = 960;
const HEIGHT = 360;
const LEFT = 60;
const BOTTOM = 40;
const TOP = 24;
const LEGEND = 170;
const COLORS = ["#999999", "#c49a00", "#8c6bb1", "#d95f0e", "#1b7837", "#2166ac", "#b2182b", "#000000"];

export function drawColumn({ column, rows }: ColumnReport): string {
  const calls = Math.max(1, ...rows.map(({ figures }) => figures.tokens.length));
  const most = Math.max(column.window, ...rows.map(({ figures }) => figures.peak));
  const x = (call: number): string => (LEFT + (call / calls) * (WIDTH - LEFT - LEGEND)).toFixed(1);
  const y = (tokens: number): string => (HEIGHT - BOTTOM - (tokens / most) * (HEIGHT - BOTTOM - TOP)).toFixed(1);
  const lines = rows.map(({ figures }, at) => {
    const points = figures.tokens.map((tokens, call) => `${x(call)},${y(tokens)}`).join(" ");
    return `<polyline fill="none" stroke="${toColor(at)}" stroke-width="1" points="${points}"/>`;
  });
  const names = rows.map(({ setup }, at) => {
    const text = setup.guard ? setup.name : `${setup.name}, no guard`;
    return `<text x="${WIDTH - LEGEND + 12}" y="${TOP + 12 + at * 18}" fill="${toColor(at)}">${escapeXml(text)}</text>`;
  });
  const right = x(calls);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    `<text x="${LEFT}" y="16">${escapeXml(column.name)}: tokens of each request</text>`,
    `<line x1="${LEFT}" x2="${right}" y1="${y(column.window)}" y2="${y(column.window)}" stroke="#b2182b" stroke-dasharray="4 3"/>`,
    `<line x1="${LEFT}" x2="${right}" y1="${y(0)}" y2="${y(0)}" stroke="#333333"/>`,
    ...[0, column.window / 2, column.window].map((tokens) => `<text x="8" y="${y(tokens)}">${tokens}</text>`),
    `<text x="${LEFT}" y="${HEIGHT - 12}">call 1</text>`,
    `<text x="${right}" y="${HEIGHT - 12}" text-anchor="end">call ${calls}</text>`,
    ...lines,
    ...names,
    "</svg>",
    "",
  ].join("\n");
}

const toColor = (index: number): string => COLORS[index % COLORS.length] ?? "#000000";
const escapeXml = (text: string): string => text.replace(/[&<>]/g, (found) => (found === "&" ? "&amp;" : found === "<" ? "&lt;" : "&gt;"));
