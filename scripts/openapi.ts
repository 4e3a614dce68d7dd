// Writes openapi.yaml from the route definitions. With --check it only checks that the committed file is current.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describedRoutes } from '../service/src/described-routes.ts';
import { buildDocument } from '../service/src/http/openapi/build.ts';
import { toYaml } from '../service/src/http/openapi/document.ts';

const file = join(import.meta.dirname, '../openapi.yaml');
const text = await toYaml(await buildDocument(describedRoutes));

if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (readFileSync(file, 'utf8') !== text) {
  process.stderr.write('openapi.yaml does not match the route definitions: run npm run openapi\n');
  process.exitCode = 1;
}
