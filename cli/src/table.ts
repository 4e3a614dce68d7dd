import Table from 'cli-table3';
import stringWidth from 'string-width';
import type { Colors } from './colors.ts';

const GAP = 2;
/** A column is not made narrower than this, even if the table is then wider than the terminal. */
const NARROWEST = 6;

const NO_BORDERS = Object.fromEntries(
  [
    ...['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'],
    ...['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'],
  ].map(name => [name, '']),
);

/** Formats rows with the same widths, chunk by chunk; the first chunk has the header. */
export class TableWriter {
  readonly #columns: readonly string[];
  readonly #expected: Readonly<Record<string, number>>;
  readonly #wraps: boolean;
  readonly #terminal: number;
  readonly #colors: Colors;
  #widths: number[] | undefined;

  /**
   * `expected` has the widths of columns whose first rows say nothing about later ones. Values that are too wide wrap, or are cut off.
   */
  constructor(
    columns: readonly string[],
    {
      expected = {},
      wraps = false,
    }: { expected?: Readonly<Record<string, number>> | undefined; wraps?: boolean | undefined },
    terminal: number,
    colors: Colors,
  ) {
    this.#columns = columns;
    this.#expected = expected;
    this.#wraps = wraps;
    this.#terminal = terminal;
    this.#colors = colors;
  }

  format(rows: readonly string[][]): string {
    const widths = this.#widths;
    if (widths && this.#wraps)
      return layOut(
        rows.map(row => row.map((text, i) => breakable(text, widths[i]!))),
        widths,
        'at words',
      );
    if (widths) return layOut(rows, widths);
    const header = this.#columns.map(title);
    const wanted = header.map((name, i) =>
      Math.max(
        ...[name, ...rows.map(row => row[i]!)].map(text => stringWidth(text)),
        this.#expected[this.#columns[i]!] ?? 0,
      ),
    );
    // A time is read at a glance only in one line.
    const kept = this.#columns.map(column => this.#wraps && column === 'time');
    this.#widths = fit(wanted, this.#terminal, kept);
    // The library would wrap in the middle of a colour.
    return layOut([header.map(this.#colors.bold)], this.#widths) + this.format(rows);
  }
}

/** Formats an item as one line for each field. Long values wrap. */
export function formatItem(
  fields: readonly (readonly [string, string])[],
  terminal: number,
  colors: Colors,
): string {
  const names = Math.max(...fields.map(([name]) => name.length));
  const widths = [names, Math.max(NARROWEST, terminal - names - GAP)];
  const lines = layOut(
    fields.map(field => [...field]),
    widths,
    'anywhere',
  );
  // The library would wrap in the middle of a colour.
  return lines.replace(/^\S+/gm, colors.bold);
}

/** `categoryId` becomes `CATEGORY ID`. */
function title(field: string): string {
  return field.replace(/([a-z])([A-Z])/g, '$1 $2').toUpperCase();
}

/** Makes the widest columns narrower until the table fits the terminal, except those that are kept. */
function fit(wanted: readonly number[], terminal: number, kept: readonly boolean[]): number[] {
  const widths = [...wanted];
  const available = terminal - GAP * (widths.length - 1);
  for (let excess = sum(widths) - available; excess > 0; excess--) {
    const widest = Math.max(...widths.filter((_, i) => !kept[i]));
    if (widest <= NARROWEST) return widths;
    widths[widths.findIndex((width, i) => width === widest && !kept[i])] = widest - 1;
  }
  return widths;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** Divides words that are wider than a column: the library would cut them off. */
function breakable(text: string, width: number): string {
  return text
    .split(' ')
    .flatMap(word => (stringWidth(word) <= width ? [word] : piecesOf(word, width)))
    .join(' ');
}

function piecesOf(word: string, width: number): string[] {
  const pieces = [''];
  for (const character of word) {
    const longer = pieces.at(-1) + character;
    if (stringWidth(longer) <= width) pieces.splice(-1, 1, longer);
    else pieces.push(character);
  }
  return pieces;
}

function layOut(
  rows: readonly string[][],
  widths: readonly number[],
  wraps?: 'at words' | 'anywhere',
): string {
  const table = new Table({
    chars: NO_BORDERS,
    style: { 'padding-left': 0, 'padding-right': GAP, head: [], border: [] },
    colWidths: widths.map(width => width + GAP),
    wordWrap: wraps !== undefined,
    wrapOnWordBoundary: wraps === 'at words',
  });
  table.push(...rows.map(row => [...row]));
  const lines = table.toString().split('\n');
  return lines.map(line => `${line.trimEnd()}\n`).join('');
}
