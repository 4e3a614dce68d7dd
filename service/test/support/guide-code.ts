import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { readGuide } from './guide.ts';

/** Imports a function from the guide to the API, as a program that copied it would. */
export async function importFromGuide(t: TestContext, name: string): Promise<unknown> {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, `${randomUUID()}.mjs`);
  const code = readGuide('api-guide.md').blocks.find(
    ({ language, text }) => language === 'js' && text.includes(`export function ${name}(`),
  );
  assert.ok(code, `the guide has no function ${name}`);
  writeFileSync(file, code.text);
  return (await import(pathToFileURL(file).href))[name];
}
