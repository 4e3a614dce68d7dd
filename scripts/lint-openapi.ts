// Checks openapi.yaml against Redocly's recommended rules. Any finding is a failure.
import { join } from 'node:path';
import { createConfig, lint } from '@redocly/openapi-core';

const config = await createConfig({ extends: ['recommended'] });
const problems = await lint({ ref: join(import.meta.dirname, '../openapi.yaml'), config });

for (const { severity, ruleId, message, location } of problems) {
  process.stderr.write(`openapi.yaml ${location[0]?.pointer ?? ''}: ${severity} ${ruleId}: ${message}\n`);
}
if (problems.length > 0) process.exitCode = 1;
