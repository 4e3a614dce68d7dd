import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sample } from '../../../web/portal/samples.js';
import { callOf, exampleValues } from '../../src/portal/call.ts';
import { type Contract, ContractView } from '../../src/portal/contract.ts';
import { compile } from '../support/compile.ts';
import { readContract } from '../support/contract-file.ts';
import { readGuide } from '../support/guide.ts';

const settings = { module: 'nodenext', types: ['node'] };
const view = new ContractView(readContract<Contract>());

function programsIn(file: string): string[] {
  const blocks = readGuide(file).blocks.filter(({ language }) => ['js', 'ts'].includes(language));
  // Those with a framework are compiled in backend-recipes.test.ts.
  const programs = blocks.map(({ text }) => text).filter(text => !/from '(express|fastify)'/.test(text));
  return programs.filter(text => text.includes('@petstore/client'));
}

describe('samples that use the client compile with --strict', () => {
  it('in its README and in the guide', t => {
    const programs = [...programsIn('../sdk/README.md'), ...programsIn('api-guide.md')];
    assert.ok(programs.length >= 11);
    assert.equal(compile(t, programs, settings), '');
  });

  it('on the page of each operation', t => {
    const programs = view.operations.map(operation =>
      sample('typescript', callOf(view, operation), exampleValues(operation), 'https://petstore.example'),
    );
    assert.ok(programs.length > 50);
    assert.equal(compile(t, programs, settings), '');
  });
});
