import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { planLimits, plans } from '../../src/access/plans/plan.ts';
import { readConfig } from '../../src/config.ts';
import { WEBHOOKS_PER_KEY } from '../../src/contract/defaults.ts';
import { type ErrorCode, errorCatalogue } from '../../src/contract/error-catalogue.ts';
import { scopes } from '../../src/contract/scopes.ts';
import { API_VERSION } from '../../src/contract/version.ts';
import { fillEmptyStore } from '../../src/demo/demo-shop.ts';
import { RESPONSE_TIMEOUT, SCHEDULE, WINDOW } from '../../src/events/webhooks/delivery-rules.ts';
import {
  FAILING_CONCURRENCY,
  INITIAL_CONCURRENCY,
  MAX_CONCURRENCY,
} from '../../src/events/webhooks/lane-rules.ts';
import { HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { grouped, inWords } from '../../src/kit/quantities.ts';
import { assertMatchesContract, operationOf } from '../support/contract.ts';
import { docsDirectory, readGuide, tableHeaded } from '../support/guide.ts';
import { assertShown, examplesIn } from '../support/http-examples.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { run } from '../support/service-process.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { storeForProcesses } from '../support/test-store.ts';

const guide = readGuide('api-guide.md');
const examples = guide.blocks.filter(({ language }) => language === 'http');

/** Starts the shop of the guide's examples, with the keys for its placeholders. */
async function openShop(t: TestContext): Promise<TestApp & { keys: Record<string, string> }> {
  const shop = await startTestApp(t);
  const { app, api, clock, adminKey } = shop;
  await fillEmptyStore(app.db, clock.now());
  await app.db.numberEvents();
  const createKey = async (fields: object): Promise<string> => {
    const { status, body } = await api.post('/keys', fields);
    assert.equal(status, 201, JSON.stringify(body));
    return body.key;
  };
  const small = { plan: 'enterprise', scopes: ['pets:read'], quotas: { perMinute: 3, perDay: 100 } };
  const keys = {
    'admin key': adminKey,
    key: await createKey({
      name: 'Web shop',
      plan: 'pro',
      scopes: ['pets:read', 'orders:read', 'orders:write'],
    }),
    'small key': await createKey({ ...small, name: 'Small' }),
    'banned key': await createKey({ ...small, name: 'Impatient' }),
    'nearly used key': await createKey({
      ...{ ...small, name: 'Nearly used up' },
      quotas: { perMinute: 100, perDay: 10 },
    }),
    'test key': await createKey({
      name: 'Tests',
      plan: 'free',
      scopes: ['pets:read', 'orders:read', 'orders:write'],
      kind: 'test',
    }),
  };

  const statuses = async (key: string, requests: number) => {
    const responses = [];
    for (let i = 0; i < requests; i++) responses.push(await api.as(key).get('/pets'));
    return responses.map(({ status, body }) => body.code ?? status);
  };
  assert.deepEqual(await statuses(keys['small key'], 3), [200, 200, 200]);
  assert.deepEqual(await statuses(keys['nearly used key'], 8), Array(8).fill(200));
  clock.set('2026-11-21T12:00:05Z');
  assert.deepEqual(await statuses(keys['banned key'], 4), [200, 200, 200, 'rate_limit_exceeded']);
  clock.set('2026-11-21T12:00:10Z');
  assert.equal((await statuses(keys['banned key'], 10)).at(-1), 'api_key_banned');
  clock.set('2026-11-21T12:00:30Z');
  return { ...shop, keys };
}

describe('the guide to the API', () => {
  it('shows requests that get the responses it shows', async t => {
    const { origin, keys } = await openShop(t);
    const wrong: Error[] = [];
    for (const example of examplesIn(examples, keys)) {
      const response = await exchangeBytes(origin, example.bytes);
      assertMatchesContract({ ...example, ...response });
      try {
        assertShown(example, response);
      } catch (error) {
        wrong.push(new Error(`docs/api-guide.md:${example.line} ${(error as Error).message}`));
      }
    }
    assert.equal(wrong.length, 0, wrong.map(({ message }) => message).join('\n\n'));
  });

  it('has no example that does not run', () => {
    // test/portal/guide-recipes.test.ts runs sh, ts and python, test/cli/mcp-process.test.ts uses json, and secret-scanners.test.ts toml.
    const languages = Map.groupBy(guide.blocks, ({ language }) => language);
    assert.deepEqual([...languages.keys()].toSorted(), ['http', 'js', 'json', 'python', 'sh', 'toml', 'ts']);
    assert.equal(languages.get('json')!.length, 1);
    const code = languages.get('js')!;
    assert.equal(
      code.length,
      7,
      'clients, servers and the configurations of orval and Kubb, which have tests of their own',
    );
    assert.equal(guide.prose.match(/^ *(```|~~~)/gm), null, 'a fence that the test cannot read');
  });

  it('lists commands that do what it states', async t => {
    const { environment } = await storeForProcesses(t);
    assert.equal((await run(t, ['migrate'], environment)).code, 0);
    let id = '';
    for (const [purpose, , command = ''] of tableHeaded(guide, 'To')) {
      const words = command.replaceAll('`', '').match(/"[^"]*"|\S+/g)!;
      const args = words.map(word => (word === 'ID' ? id : word.replaceAll('"', '')));
      const { code, stdout, stderr } = await run(t, args, environment);
      assert.deepEqual([code, purpose], [0, purpose], stderr);
      if (purpose === 'create') id = /^API key (\d+)/.exec(stderr)![1]!;
      // No key has sent a request in this store.
      else assert.equal(stdout === '', purpose === 'list by use', purpose);
    }
  });

  it('shows the actual limits of the plans', () => {
    const shown = tableHeaded(guide, 'Plan').map(([plan = '', ...limits]) => [plan.toLowerCase(), ...limits]);
    const numbers = new Intl.NumberFormat('en');
    const fixed = Object.entries(planLimits).map(([plan, { perMinute, perDay }]) => [
      plan,
      numbers.format(perMinute),
      numbers.format(perDay),
    ]);
    assert.deepEqual(shown, [...fixed, ['enterprise', 'as agreed', 'as agreed']]);
    assert.deepEqual(
      shown.map(([plan]) => plan),
      plans,
    );
  });

  it('shows all scopes, and what they allow', () => {
    const shown = tableHeaded(guide, 'Scope').map(([scope = '', meaning]) => [
      scope.replaceAll('`', ''),
      meaning,
    ]);
    assert.deepEqual(Object.fromEntries(shown), scopes);
  });

  it('states the default figures of bans', () => {
    const { forgiveness, strikes, strikesWithin, durations, decay } = readConfig({}).banRules;
    const minutes = durations.map(duration => duration / MINUTE);
    const prose = guide.prose.replace(/\s+/g, ' ');
    for (const figure of [
      `rejected in the first ${forgiveness / SECOND} seconds after it do not count`,
      `${strikes} strikes within ${strikesWithin / SECOND} seconds start a ban`,
      `lasts ${minutes[0]} minute, the next ones ${minutes.slice(1, -1).join(', ')} and ${minutes.at(-1)} minutes`,
      `After ${decay / HOUR} hours without a ban`,
    ]) {
      assert.ok(prose.includes(figure), figure);
    }
  });

  it('mentions error codes that exist, with their statuses', () => {
    const codes = guide.codes.filter(code => /^[a-z]+(_[a-z]+)+$/.test(code));
    assert.ok(codes.length > 10);
    for (const code of codes) assert.ok(code in errorCatalogue, code);
    const withStatus = [...guide.prose.matchAll(/\b([45]\d\d)(?:\s|\|)+`([a-z_]+)`/g)];
    assert.ok(withStatus.length > 5);
    for (const [, status, code] of withStatus)
      assert.equal(Number(status), errorCatalogue[code as ErrorCode].status, code);
  });

  it('mentions operations that exist', () => {
    const operations = guide.codes.filter(code => /^[A-Z]+ \/\S+$/.test(code));
    assert.ok(operations.length > 8);
    for (const operation of operations) {
      const [method = '', path = ''] = operation.split(' ');
      assert.ok(operationOf(method, path), operation);
    }
  });
});

const guideText = readFileSync(join(docsDirectory, 'api-guide.md'), 'utf8').replace(/\s+/g, ' ');

describe('the figures in the guide', () => {
  for (const text of [
    `The version of the interface is ${API_VERSION}.`,
    `return a 2xx within ${inWords(RESPONSE_TIMEOUT)}`,
    `The service tries again after ${SCHEDULE},`,
    `${INITIAL_CONCURRENCY} at first, more`,
    `(up to ${MAX_CONCURRENCY}, and`,
    `and ${FAILING_CONCURRENCY} while attempts fail`,
    `At most ${grouped(WINDOW.pending)} deliveries are pending`,
    `A key can have ${WEBHOOKS_PER_KEY} webhooks, unless`,
  ]) {
    it(`match the service: ${text}`, () => assert.ok(guideText.includes(text)));
  }
});
