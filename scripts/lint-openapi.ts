// Checks openapi.yaml against the recommended rules of Redocly, and of Spectral for OpenAPI. Any finding is a failure.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConfig, lint } from '@redocly/openapi-core';
import spectral from '@stoplight/spectral-core';
import parsers from '@stoplight/spectral-parsers';
import rulesets from '@stoplight/spectral-rulesets';

const root = join(import.meta.dirname, '..');
const contract = join(root, 'openapi.yaml');

/** The linters take 7 s, so a document without a finding is not linted again by the same versions. */
const cache = join(root, 'node_modules/.cache/petstore');
const inputs = [contract, import.meta.filename, join(import.meta.dirname, 'package.json')];
const hash = createHash('sha256');
for (const file of inputs) hash.update(readFileSync(file));
const passed = join(cache, `linted-${hash.digest('hex').slice(0, 16)}`);

if (!existsSync(passed)) {
  const findings = [...(await redoclyFindings()), ...(await spectralFindings())];
  for (const finding of findings) process.stderr.write(`openapi.yaml ${finding}\n`);
  if (findings.length > 0) process.exitCode = 1;
  else {
    mkdirSync(cache, { recursive: true });
    writeFileSync(passed, '');
  }
}

async function redoclyFindings(): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lint({ ref: contract, config });
  return problems.map(
    ({ severity, ruleId, message, location }) =>
      `${location[0]?.pointer ?? ''}: ${severity} ${ruleId}: ${message}`,
  );
}

async function spectralFindings(): Promise<string[]> {
  const linter = new spectral.Spectral();
  linter.setRuleset({ extends: [], ...rulesets.oas } as spectral.RulesetDefinition);
  const document = new spectral.Document(readFileSync(contract, 'utf8'), parsers.Yaml, contract);
  const findings = await linter.run(document);
  return findings.map(({ code, path, message }) => `#/${path.join('/')}: ${code}: ${message}`);
}
