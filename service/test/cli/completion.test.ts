import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PackedCommand } from '../support/packed-command.ts';

const petstore = new PackedCommand({ HOME: '/nonexistent' });

/** Completes a line in bash, as the key Tab does. Returns the words that bash would offer. */
async function inBash(line: string): Promise<string[]> {
  const { stdout, stderr } = await petstore.shell(`
    eval "$(petstore completion bash)"
    COMP_LINE=${JSON.stringify(line)}
    COMP_POINT=\${#COMP_LINE}
    _petstore
    printf '%s\\n' "\${COMPREPLY[@]}"`);
  assert.equal(stderr, '');
  return stdout.trimEnd().split('\n');
}

describe('the completion of petstore, in bash', () => {
  it('completes groups, commands and options', async () => {
    assert.deepEqual(await inBash('petstore or'), ['orders']);
    assert.deepEqual(await inBash('petstore orders c'), ['complete', 'cancel']);
    assert.deepEqual(await inBash('petstore --json pets list --st'), ['--status']);
    assert.deepEqual(await inBash('petstore pets list --qu'), ['--quiet']);
  });

  it('completes the values of options and arguments', async () => {
    assert.deepEqual(await inBash('petstore pets list --status '), ['available', 'pending', 'sold']);
    assert.deepEqual(await inBash('petstore pets list --status=so'), ['sold']);
    assert.deepEqual(await inBash('petstore completion f'), ['fish']);
  });

  it('completes scopes, which bash splits at the colon', async () => {
    assert.deepEqual(await inBash('petstore keys create --scope pets:'), ['read', 'write']);
  });

  it('is offered for zsh and fish', async () => {
    assert.match((await petstore.run(['completion', 'zsh'])).stdout, /^#compdef petstore\n/);
    assert.match((await petstore.run(['completion', 'fish'])).stdout, /complete -c petstore /);
  });
});
