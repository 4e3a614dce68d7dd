import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const docsDirectory = join(import.meta.dirname, '../../../docs');

/** A fenced block of a Markdown file. */
export interface Block {
  language: string;
  text: string;
  /** The line of its fence. */
  line: number;
}

/** A Markdown file, split into the parts that tests check. */
interface Guide {
  blocks: Block[];
  /** The text without the blocks. */
  prose: string;
  /** The pieces of inline code outside blocks. */
  codes: string[];
  /** The targets of links and of reference definitions. */
  links: string[];
  /** The text after the `#` in a link to each heading. */
  anchors: Set<string>;
}

const FENCED = /^```(\S*)[^\n]*\n(.*?)^```$/gms;

export function readGuide(file: string): Guide {
  const text = readFileSync(join(docsDirectory, file), 'utf8');
  const prose = text.replace(FENCED, '');
  return {
    blocks: [...text.matchAll(FENCED)].map(({ 1: language = '', 2: text = '', index, input }) => ({
      language,
      text,
      line: input.slice(0, index).split('\n').length,
    })),
    prose,
    codes: [...prose.matchAll(/`([^`]+)`/g)].map(([, code]) => code!.replace(/\s+/g, ' ')),
    links: [...prose.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target!),
    anchors: anchorsOf(prose),
  };
}

export function anchorsOf(markdown: string): Set<string> {
  const headings = [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!);
  return new Set(
    headings.map(heading =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** The rows, without the head, of the table whose first column has this heading; each row as its cells. */
export function tableHeaded({ prose }: Guide, firstColumn: string): string[][] {
  const lines = prose.split('\n');
  const head = lines.findIndex(line => line.startsWith('|') && cellsOf(line)[0] === firstColumn);
  if (head < 0) throw new Error(`No table has the first column ${JSON.stringify(firstColumn)}`);
  const end = lines.findIndex((line, i) => i > head && !line.startsWith('|'));
  return lines.slice(head + 2, end).map(cellsOf);
}

function cellsOf(row: string): string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map(cell => cell.trim());
}
