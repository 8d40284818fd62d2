/**
 * Charts as SVG text: lines and points over two axes. Colours come from the page's style, so that a chart is readable
 * in light and dark mode.
 */

export interface Series {
  readonly name: string;
  /** The index of its colour. */
  readonly tone: number;
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Points that get a small tick. */
  readonly marks?: readonly number[];
}

export interface Chart {
  readonly title: string;
  readonly x: { readonly label: string; readonly from: number; readonly to: number };
  readonly y: { readonly label: string; readonly from: number; readonly to: number };
  readonly series: readonly Series[];
  /** A horizontal line with a label. */
  readonly level?: { readonly at: number; readonly name: string };
}

const WIDTH = 760;
const HEIGHT = 300;
const LEFT = 64;
const RIGHT = 14;
const TOP = 12;
const BOTTOM = 42;
const TICKS = 8;

interface Scales {
  readonly x: (value: number) => string;
  readonly y: (value: number) => string;
}

const toScales = ({ x, y }: Chart): Scales => ({
  x: (value) => (LEFT + ((value - x.from) / (x.to - x.from || 1)) * (WIDTH - LEFT - RIGHT)).toFixed(1),
  y: (value) => (HEIGHT - BOTTOM - ((value - y.from) / (y.to - y.from || 1)) * (HEIGHT - BOTTOM - TOP)).toFixed(1),
});

/** One line for each series. */
export const drawLines = (chart: Chart): string =>
  draw(
    chart,
    chart.series.map((series) => line(series, toScales(chart))),
  );

/** One dot for each point, labelled with its series. */
export function drawDots(chart: Chart): string {
  const to = toScales(chart);
  const named: Spot[] = [];
  const drawn = chart.series.flatMap((series) =>
    series.points.map(([x, y]) => {
      const at = { x: Number(to.x(x)), y: Number(to.y(y)) };
      const label = { x: at.x, y: freeFrom(at, named) };
      named.push(label);
      return dot({ ...series, words: `${series.name}: ${short(x)}, ${short(y)}` }, at, label);
    }),
  );
  return draw(chart, drawn);
}

interface Spot {
  readonly x: number;
  readonly y: number;
}

const LABEL_HEIGHT = 13;
const LABEL_WIDTH = 150;

/** The height nearest to the dot's at which there is no other label. */
function freeFrom({ x, y }: Spot, named: readonly Spot[]): number {
  const isFree = (height: number): boolean =>
    named.every((other) => Math.abs(other.x - x) > LABEL_WIDTH || Math.abs(other.y - height) >= LABEL_HEIGHT);
  for (let shift = 0; shift < HEIGHT; shift++) {
    if (isFree(y - shift)) return y - shift;
    if (isFree(y + shift)) return y + shift;
  }
  return y;
}

function draw(chart: Chart, content: readonly string[]): string {
  return [
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(chart.title)}">`,
    ...axes(chart, toScales(chart)),
    ...content,
    "</svg>",
  ].join("");
}

function axes({ x, y, level }: Chart, to: Scales): string[] {
  const [rows, columns] = [listTicks(y), listTicks(x)];
  return [
    ...rows.map((value) => `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${to.y(value)}" y2="${to.y(value)}"/>`),
    ...rows.map((value) => `<text class="tick" x="${LEFT - 6}" y="${to.y(value)}" dy="4" text-anchor="end">${short(value)}</text>`),
    ...columns.map(
      (value) => `<text class="tick" x="${to.x(value)}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${short(value)}</text>`,
    ),
    `<text class="label" x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 6}" text-anchor="middle">${escapeHtml(x.label)}</text>`,
    `<text class="label" transform="translate(12 ${(HEIGHT - BOTTOM + TOP) / 2}) rotate(-90)" text-anchor="middle">${escapeHtml(y.label)}</text>`,
    ...(level ? [`<line class="level" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${to.y(level.at)}" y2="${to.y(level.at)}"/>`] : []),
    ...(level
      ? [`<text class="tick" x="${WIDTH - RIGHT}" y="${to.y(level.at)}" dy="-4" text-anchor="end">${escapeHtml(level.name)}</text>`]
      : []),
  ];
}

const STEPS = [1, 2, 2.5, 5, 10];

/** Round numbers within the axis, about `TICKS` of them. */
function listTicks({ from, to }: Chart["x"]): number[] {
  const rough = (to - from || 1) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = (STEPS.find((each) => each * power >= rough) ?? 10) * power;
  const first = Math.ceil(from / step - 1e-9);
  return Array.from({ length: Math.max(0, Math.floor(to / step + 1e-9) - first + 1) }, (_, at) => (first + at) * step);
}

function line({ name, tone, points, marks = [] }: Series, to: Scales): string {
  const path = points.map(([x, y]) => `${to.x(x)},${to.y(y)}`).join(" ");
  const ticks = marks.flatMap((at) => {
    const point = points[at];
    return point ? [`<circle class="mark fill-${tone}" cx="${to.x(point[0])}" cy="${to.y(point[1])}" r="2.5"/>`] : [];
  });
  return `<g><title>${escapeHtml(name)}</title><polyline class="line tone-${tone}" points="${path}"/>${ticks.join("")}</g>`;
}

function dot({ name, tone, words }: Series & { readonly words: string }, at: Spot, label: Spot): string {
  const lead = Math.abs(label.y - at.y) > 3 ? `<line class="lead" x1="${at.x}" y1="${at.y}" x2="${at.x + 12}" y2="${label.y}"/>` : "";
  const circle = `<circle class="dot fill-${tone}" cx="${at.x}" cy="${at.y}" r="5"/>`;
  const text = `<text class="name" x="${at.x + 13}" y="${label.y.toFixed(1)}" dy="4">${escapeHtml(name)}</text>`;
  return `<g><title>${escapeHtml(words)}</title>${lead}${circle}${text}</g>`;
}

const short = (value: number): string =>
  Math.abs(value) >= 1_000_000
    ? `${(value / 1_000_000).toFixed(1)}M`
    : Math.abs(value) >= 1_000
      ? `${(value / 1_000).toFixed(value % 1_000 === 0 ? 0 : 1)}k`
      : Number.isInteger(value)
        ? String(value)
        : String(Number(value.toFixed(3)));

const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" } as const;
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (found) => (found === "&" || found === "<" || found === ">" || found === '"' ? escapes[found] : found));
