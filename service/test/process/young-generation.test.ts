import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readProjectFile } from '../support/deploy-files.ts';

it('bounds the memory of the young generation in the same way wherever the service is started for others', () => {
  const files = ['package.json', 'Dockerfile', 'deploy/systemd/petstore.service'];
  for (const file of files) {
    assert.match(readProjectFile(file), /\bNODE_OPTIONS=--max-semi-space-size=8\b/, file);
  }
});
