import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Engine } from '../../src/db/database.ts';
import { readMigrations } from '../../src/db/migrations.ts';
import { dataDirectory } from './service-process.ts';

const ownCheckout = join(import.meta.dirname, '../../..');

/** What the service needs to run. */
const COPIED = ['package.json', 'docs', 'service', 'web'];

const CATEGORY = 'service/src/catalog/categories/category.ts';

/** The changes of the next version: categories have a motto. */
const changes: [from: string, to: string][] = [
  [
    "description: 'Short description of the category.' },\n",
    "description: 'Short description of the category.' },\n  motto: { ...longText, description: 'A motto.' },\n",
  ],
  ["optional: ['description'],\n", "optional: ['description', 'motto'],\n"],
  ["optional: ['id', 'description'],\n", "optional: ['id', 'description', 'motto'],\n"],
  [
    "description: optional(text('description')),\n",
    "description: optional(text('description')),\n  motto: optional(text('motto')),\n",
  ],
];

export const NEXT_SCHEMA = readMigrations('sqlite').length + 1;

/**
 * Copies this checkout and makes a next version of it, which has one more migration and returns one more property. It is deleted
 * when the test ends. Returns its directory.
 */
export function nextVersion(t: TestContext): string {
  const checkout = join(dataDirectory(t), 'next');
  mkdirSync(checkout);
  for (const path of COPIED) {
    cpSync(join(ownCheckout, path), join(checkout, path), {
      recursive: true,
      filter: source => basename(source) !== 'node_modules',
    });
  }
  for (const path of ['node_modules', 'service/node_modules'])
    symlinkSync(join(ownCheckout, path), join(checkout, path));
  const file = join(checkout, CATEGORY);
  let source = readFileSync(file, 'utf8');
  for (const [from, to] of changes) {
    assert.ok(source.includes(from), `${CATEGORY} has no ${from}`);
    source = source.replaceAll(from, to);
  }
  writeFileSync(file, source);
  const change = 'ALTER TABLE categories ADD COLUMN motto TEXT;\n';
  const postgres = `LOCK TABLE categories IN ACCESS EXCLUSIVE MODE;\n${change}`;
  addMigration(checkout, NEXT_SCHEMA, 'mottos', { sqlite: change, postgres });
  return checkout;
}

/** Adds a migration to a checkout. Returns its name, as `migrate` prints it. */
export function addMigration(
  checkout: string,
  version: number,
  subject: string,
  sql: Partial<Record<Engine, string>>,
): string {
  const name = `${String(version).padStart(4, '0')}-${subject}`;
  for (const [engine, text] of Object.entries(sql))
    writeFileSync(join(checkout, `service/migrations/${name}.${engine}.sql`), text);
  return name;
}
