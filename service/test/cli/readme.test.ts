import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { commandIn, useCommandShop } from '../support/command-shop.ts';

const root = join(import.meta.dirname, '../../..');

function commandsIn(file: string, program: string): string[] {
  const blocks = [...readFileSync(join(root, file), 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)];
  return blocks.flatMap(([, text]) => text!.split('\n')).filter(line => line.startsWith(`${program} `));
}

describe('the examples of petstore', () => {
  const { shop, directory } = useCommandShop();
  const petstore = commandIn(directory);

  before(async () => {
    mkdirSync(join(directory, 'data'));
    writeFileSync(join(directory, 'data/admin.key'), `${shop.adminKey}\n`);
    const readme = readFileSync(join(root, 'cli/README.md'), 'utf8');
    writeFileSync(join(directory, 'animals.csv'), /^```csv\n(.*?)^```$/ms.exec(readme)![1]!);
    await shop.api.post('/categories', { name: 'Ferrets' });
    for (let i = 0; i < 6; i++) await shop.api.post('/pets', { name: `Pet ${i}`, categoryId: 1 });
    await shop.app.db.numberEvents();
  });

  // Both log in: readers can paste the blocks again.
  for (const [file, program] of [
    ['cli/README.md', 'petstore'],
    ['README.md', 'npx petstore'],
  ] as const) {
    it(`in ${file} work`, async () => {
      const commands = commandsIn(file, program);
      assert.ok(commands.length >= 4, `${commands.length} examples`);
      const lines = commands.map(line => line.replaceAll('npx petstore', 'petstore'));
      const script = ['set -e', `cd '${directory}'`, ...lines].join('\n');
      const { code, stderr } = await petstore.shell(script, { SHOP: shop.origin });
      assert.equal(code, 0, stderr);
    });
  }

  it('list the exit codes that the help lists', async () => {
    const { meanings } = await petstore.load<typeof import('../../../cli/src/failure.ts')>('failure.js');
    const readme = readFileSync(join(root, 'cli/README.md'), 'utf8').replaceAll('`', '');
    for (const [code, meaning] of meanings) assert.ok(readme.includes(`| ${code} | ${meaning} |`), meaning);
  });

  it('start from a clone with `npx petstore`', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const { stdout } = await petstore.shell(`cd '${root}' && npx petstore --version`);
    assert.equal(stdout, `${version}\n`);
  });
});
