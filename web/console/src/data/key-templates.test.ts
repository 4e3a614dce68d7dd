import assert from 'node:assert/strict';
import { it } from 'node:test';
import { keyTemplates } from './key-templates.ts';

it('no template has a right that its title does not promise', () => {
  const scopesOf = (title: string) => keyTemplates.find(template => template.title === title)!.scopes;
  assert.ok(scopesOf('Read only').every(scope => scope.endsWith(':read')));
  assert.ok(!scopesOf('Supplier').some(scope => scope.startsWith('orders:')));
  assert.ok(!keyTemplates.some(({ scopes }) => scopes.includes('admin')));
});
