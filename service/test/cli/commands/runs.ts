import assert from 'node:assert/strict';
import { before } from 'node:test';
import { type CommandShop, useCommandShop } from '../../support/command-shop.ts';
import { TestClock } from '../../support/test-clock.ts';
import { until } from '../../support/until.ts';

type Definitions = typeof import('../../../../cli/src/commands/index.ts');

type Item = Record<string, unknown>;

/** A shop and the command, and which of its commands were run with `--json`. */
export interface CommandRuns extends CommandShop {
  definitions: Definitions['commands'];
  used: Set<string>;
  /** Runs a command with `--json`. Returns its items, after checking what it printed and which operations it called. */
  json: (...args: string[]) => Promise<Item[]>;
  one: (...args: string[]) => Promise<Item & { id: number }>;
}

/** Starts what `useCommandShop` starts. The definitions can be read when the first case runs. */
export function useCommandRuns(): CommandRuns {
  const started = useCommandShop({
    environment: { PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' },
    // The commands have the date of this machine: a key of an earlier date can be unused for them.
    clock: new TestClock(Date.now()),
  });
  const { shop, petstore } = started;
  const runs: CommandRuns = { ...started, definitions: [], used: new Set(), json, one };
  before(async () => {
    runs.definitions = (await petstore.load<Definitions>('commands/index.js')).commands;
  });
  return runs;

  async function json(...args: string[]): Promise<Item[]> {
    // `account` is a command, and `account upgrade` another one.
    const [longer, shorter] = [args.slice(0, 2).join(' '), args[0]].map(words =>
      runs.definitions.find(({ name }) => name === words),
    );
    const named = (longer ?? shorter)!;
    const isOverview = named.overview !== undefined && named.name === args.join(' ');
    const definition = isOverview ? { ...named, ...named.overview } : named;
    runs.used.add(definition.name);
    const logged = shop.logLines().length;
    const { code, stdout, stderr } = await petstore.run([...args, '--json']);
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    const lines = stdout.split('\n');
    assert.equal(lines.pop(), '', 'the last line ends');
    const items: Item[] = lines.map(line => JSON.parse(line));
    for (const item of items)
      for (const name of Object.keys(item))
        assert.ok(
          definition.prints.fields.includes(name),
          `${args.join(' ')} prints the unknown field ${name}`,
        );
    const called = () => {
      const lines = shop.logLines().slice(logged);
      for (const { userAgent } of lines.filter(({ method }) => method))
        assert.match(String(userAgent), /^petstore-command\/\d+\.\d+\.\d+ \(node \d+\)$/);
      return [...new Set(lines.flatMap(({ method, route }) => (method ? [`${method} ${route}`] : [])))];
    };
    const expected = definition.operations ?? [];
    // The line of a stream is written when its connection has ended.
    await until('its calls are logged', () => called().length >= expected.length);
    assert.deepEqual(called(), expected, args.join(' '));
    return items;
  }

  async function one(...args: string[]): Promise<Item & { id: number }> {
    const items = await json(...args);
    assert.equal(items.length, 1, args.join(' '));
    return items[0] as Item & { id: number };
  }
}
