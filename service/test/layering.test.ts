import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, it } from 'node:test';
import { assertNone } from './support/values.ts';

const source = join(import.meta.dirname, '../src');

/** The directories that each directory may import from, in addition to itself. Imports point in one direction. Tests may import tools. */
const allowed: Record<string, readonly string[]> = {
  kit: [],
  db: ['kit'],
  counters: ['kit'],
  contract: ['kit'],
  routes: ['contract', 'db', 'kit'],
  events: ['routes', 'contract', 'db', 'kit'],
  catalog: ['events', 'routes', 'contract', 'db', 'kit'],
  inventory: ['catalog', 'events', 'routes', 'contract', 'db', 'kit'],
  orders: ['inventory', 'catalog', 'events', 'routes', 'contract', 'db', 'kit'],
  access: ['events', 'routes', 'contract', 'counters', 'db', 'kit'],
  portal: ['kit', 'web'],
  console: ['kit'],
  'problems.ts': ['counters', 'db'],
  http: ['console', 'portal', 'problems.ts', 'access', 'routes', 'contract', 'counters', 'db', 'kit'],
  batches: ['http', 'routes', 'contract', 'db', 'kit'],
  demo: ['orders', 'inventory', 'catalog', 'access', 'events', 'contract', 'counters', 'db', 'kit'],
  ops: ['problems.ts', 'counters', 'db', 'kit'],
  'config.ts': ['contract', 'counters', 'kit'],
  'features.ts': ['batches', 'http', 'orders', 'inventory', 'catalog', 'access', 'events', 'routes'],
  'described-routes.ts': ['features.ts'],
  'observers.ts': ['config.ts', 'ops', 'kit'],
  'stores.ts': ['config.ts', 'observers.ts', 'counters', 'db', 'kit'],
  'app.ts': [
    'features.ts',
    'observers.ts',
    'stores.ts',
    'problems.ts',
    'http',
    'ops',
    'access',
    'events',
    'config.ts',
    'db',
    'kit',
  ],
  commands: [
    'app.ts',
    'access',
    'events',
    'config.ts',
    'console',
    'contract',
    'counters',
    'db',
    'demo',
    'http',
    'kit',
  ],
  'main.ts': ['commands'],
};

interface Import {
  file: string;
  from: string;
  to: string;
}

const imports: Import[] = globSync('**/*.ts', { cwd: source }).flatMap(file => {
  const text = readFileSync(join(source, file), 'utf8');
  return [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, target]) => {
    const path = relative(source, join(source, dirname(file), target!));
    return { file, from: roomOf(file), to: roomOf(path) };
  });
});

function roomOf(path: string): string {
  return path.replace(/^(\.\.\/)+/, '').split('/')[0]!;
}

describe('the layers of the service', () => {
  it('are all named here', () => {
    for (const { from, file } of imports)
      assert.ok(from in allowed, `${file}: ${from} is not named in this test`);
  });

  for (const [room, targets] of Object.entries(allowed)) {
    it(`${room} imports only from ${targets.join(', ') || 'itself'}`, () => {
      const strays = imports.filter(
        ({ file, from, to }) =>
          from === room &&
          to !== room &&
          !targets.includes(to) &&
          !(to === 'test' && file.endsWith('.test.ts')),
      );
      assert.deepEqual(strays, []);
    });
  }

  it('let only config.ts and the commands read the environment', () => {
    const readers = globSync('**/*.ts', { cwd: source }).filter(file =>
      readFileSync(join(source, file), 'utf8').includes('process.env'),
    );
    assertNone(readers, file => !file.startsWith('commands/'));
  });

  it('know the store engines only in db', () => {
    const users = globSync('**/*.ts', { cwd: source }).filter(file =>
      /from '(better-sqlite3|pg)'/.test(readFileSync(join(source, file), 'utf8')),
    );
    assertNone(users, file => !file.startsWith('db/'));
  });

  it('load ops, and with it the libraries of metrics and traces, only when a setting enables it', () => {
    const users = globSync('**/*.ts', { cwd: source }).filter(file =>
      /^import (?!type )[^;]*from '(prom-client|@opentelemetry\/[^']+|[./]+\/ops\/[^']+)'/m.test(
        readFileSync(join(source, file), 'utf8'),
      ),
    );
    assertNone(users, file => !file.startsWith('ops/'));
  });
});
