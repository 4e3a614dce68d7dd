// Writes the tables of the settings into the documents that have their markers. With --check it compares them instead.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settings } from '../service/src/config.ts';
import { type SettingTable, variablesOf } from '../service/src/kit/settings.ts';
import { traceSettings } from '../service/src/kit/trace-settings.ts';
import { writeOrCheck } from './written-file.ts';

const root = join(import.meta.dirname, '..');
const documents = globSync(['README.md', 'docs/*.md'], { cwd: root });

/** The tables, by the names in their markers. */
const tables: Record<string, SettingTable> = { settings, 'trace settings': traceSettings };

for (const [name, table] of Object.entries(tables)) {
  const [start, end] = [`<!-- ${name}: written by npm run settings -->\n`, `<!-- end of ${name} -->`];
  const holders = documents.filter(file => read(file).includes(start));
  const [file] = holders;
  if (file === undefined || holders.length > 1) {
    throw new Error(`${start.trim()} must be in one document, but is in ${holders.length}`);
  }
  const text = read(file);
  const first = text.indexOf(start) + start.length;
  const last = text.indexOf(end, first);
  if (last < 0) throw new Error(`${file} has no ${end}`);
  const written = `${text.slice(0, first)}\n${markdown(table)}\n${text.slice(last)}`;
  writeOrCheck(file, written, 'npm run settings');
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

function markdown(table: SettingTable): string {
  const rows = variablesOf(table).map(variable => [
    `\`${variable.name}\``,
    variable.default === '' ? 'none' : `\`${variable.default}\``,
    variable.values,
    variable.meaning,
  ]);
  const lines = [['Variable', 'Default', 'Values', 'Meaning'], Array(4).fill('---'), ...rows];
  return lines.map(cells => `| ${cells.join(' | ')} |\n`).join('');
}
