import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readProjectFile } from '../support/deploy-files.ts';

it('limits the memory of the young generation in the same way in every deployment', () => {
  const files = ['package.json', 'Dockerfile', 'deploy/systemd/petstore.service'];
  for (const file of files) {
    assert.match(readProjectFile(file), /\bNODE_OPTIONS=--max-semi-space-size=8\b/, file);
  }
});
