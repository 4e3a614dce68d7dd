import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { readGuide } from './guide.ts';
import { dataDirectory } from './service-process.ts';

export function codeFromGuide(name: string): string {
  const code = readGuide('api-guide.md').blocks.find(
    ({ language, text }) =>
      language === 'js' && RegExp(`^export (async )?function ${name}\\(`, 'm').test(text),
  );
  assert.ok(code, `the guide has no function ${name}`);
  return code.text;
}

/** Imports a function from the guide to the API, as a program that copied it would. */
export async function importFromGuide(t: TestContext, name: string): Promise<unknown> {
  const code = codeFromGuide(name);
  const file = join(dataDirectory(t), `${randomUUID()}.mjs`);
  writeFileSync(file, code);
  return (await import(pathToFileURL(file).href))[name];
}
