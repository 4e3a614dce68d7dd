import { parseArgs } from 'node:util';
import {
  type ApiKey,
  ApiKeyPatch,
  changedSettings,
  NewApiKey,
  Rotation,
} from '../access/api-keys/api-key.ts';
import * as apiKeys from '../access/api-keys/api-keys.ts';
import { KeyLimits } from '../access/rate-limits/key-limits.ts';
import { readConfig } from '../config.ts';
import { openCounters } from '../counters/open-counters.ts';
import { bodyReader } from '../http/validate.ts';
import { UsageError } from './failure.ts';
import { withExistingStore } from './store.ts';

const actions = new Map(Object.entries({ create, list, show, change, rotate, revoke, unban, reset, usage }));

/** `keys …`: for an operator at the store, without a key of their own. A service that runs hears of it within a second. */
export async function keys([action = '', ...args]: string[]): Promise<void> {
  const run = actions.get(action);
  if (run === undefined) {
    const known = [...actions.keys()].join(', ');
    throw new UsageError(
      `${action ? `There is no "keys ${action}"` : 'Say what to do'}: keys takes ${known}`,
    );
  }
  await run(args);
}

const settings = {
  name: { type: 'string' },
  plan: { type: 'string' },
  scope: { type: 'string', multiple: true },
  'per-minute': { type: 'string' },
  'per-day': { type: 'string' },
  expires: { type: 'string' },
} as const;

async function create(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: settings });
  for (const option of ['name', 'plan', 'scope'] as const) {
    if (values[option] === undefined) throw new UsageError(`keys create needs --${option}`);
  }
  if ((values['per-minute'] === undefined) !== (values['per-day'] === undefined)) {
    throw new UsageError('--per-minute and --per-day go together');
  }
  const wanted = bodyReader(NewApiKey)(fieldsOf(values)) as NewApiKey;
  const created = await withKeys(access => apiKeys.create(access, wanted));
  showSecret(created, 'It is shown this once: keep it safe.');
}

async function list(args: string[]): Promise<void> {
  parseArgs({ args, options: {} });
  await withKeys(async access => {
    for (let cursor: string | undefined; ; ) {
      const page = await apiKeys.list(access, { sort: 'id', limit: 100, cursor });
      for (const key of page.items) {
        const { id, name, plan, scopes } = key;
        process.stdout.write(`${id}\t${name}\t${plan}\t${scopes.join(',')}\t${stateOf(key)}\n`);
      }
      if (page.next === undefined) return;
      cursor = page.next;
    }
  });
}

async function show(args: string[]): Promise<void> {
  const { id } = oneKey('show', args, {});
  print(await withKeys(access => apiKeys.read(access, id)));
}

async function change(args: string[]): Promise<void> {
  const { id, values } = oneKey('change', args, settings);
  const { expires, ...others } = values;
  const fields = fieldsOf(expires === 'never' ? others : values);
  if (expires === 'never') Object.assign(fields, { expiresAt: null });
  if (Object.keys(fields).length === 0)
    throw new UsageError('keys change needs something to change, such as --plan pro');
  const patch = bodyReader(ApiKeyPatch)(fields);
  print(await withKeys(access => apiKeys.change(access, id, current => changedSettings(current, patch))));
}

async function rotate(args: string[]): Promise<void> {
  const { id, values } = oneKey('rotate', args, { grace: { type: 'string' } });
  const fields = given({ graceSeconds: wholeNumber(values.grace) });
  const rotation = bodyReader(Rotation)(fields) as Rotation;
  const rotated = await withKeys(access => apiKeys.rotate(access, id, rotation));
  showSecret(rotated, `It is shown this once. The ones before it end by ${rotated.earlierKeysExpireAt}.`);
}

async function revoke(args: string[]): Promise<void> {
  const { id } = oneKey('revoke', args, {});
  await withKeys(access => apiKeys.revoke(access, id, () => {}));
  process.stdout.write(`API key ${id} is revoked.\n`);
}

async function unban(args: string[]): Promise<void> {
  const { id } = oneKey('unban', args, {});
  const wasBanned = await withKeys(access => apiKeys.liftBan(access, id));
  process.stdout.write(`API key ${id} ${wasBanned ? 'is no longer banned' : 'was not banned'}.\n`);
}

async function reset(args: string[]): Promise<void> {
  const { id } = oneKey('reset', args, {});
  await withKeys(access => apiKeys.reset(access, id));
  process.stdout.write(`What API key ${id} had used of its limits is cleared, and its ban if it had one.\n`);
}

async function usage(args: string[]): Promise<void> {
  const { id } = oneKey('usage', args, {});
  print(await withKeys(access => apiKeys.usage(access, id)));
}

/** Opens the keys of the store that the environment names, with what Redis knows or the service last kept of their use. */
function withKeys<T>(work: (access: apiKeys.KeyAccess) => Promise<T>): Promise<T> {
  const { banRules, redisUrls } = readConfig(process.env);
  return withExistingStore(async db => {
    const now = Date.now();
    const counters = openCounters({ urls: redisUrls, clock: 'redis', onStatus: reportRedis });
    const keyLimits = new KeyLimits({ db, counters, banRules, onBan: () => {} });
    try {
      await counters.open();
      await keyLimits.load(now);
      return await work({ db, keyLimits, now });
    } finally {
      await counters.close();
    }
  });
}

function reportRedis(status: 'shared' | 'fallback'): void {
  if (status === 'shared') return;
  process.stderr.write('Redis cannot be reached: of use and bans only what the store last kept is known.\n');
}

type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>;

/** The ID and the options of an action on one key. */
function oneKey<T extends Options>(action: string, args: string[], options: T) {
  const { positionals, values } = parseArgs({ args, options, allowPositionals: true });
  const [id, ...more] = positionals;
  if (id === undefined || more.length > 0 || !/^[1-9]\d{0,15}$/.test(id)) {
    throw new UsageError(`Name one API key by its ID: keys ${action} 3`);
  }
  return { id: Number(id), values };
}

type Settings = ReturnType<typeof parseArgs<{ options: typeof settings }>>['values'];

/** The settings of a key as a request would say them. */
function fieldsOf({ name, plan, scope: scopes, expires: expiresAt, ...limits }: Settings): object {
  const quotas = given({
    perMinute: wholeNumber(limits['per-minute']),
    perDay: wholeNumber(limits['per-day']),
  });
  return given({
    name,
    plan,
    scopes,
    expiresAt,
    quotas: Object.keys(quotas).length > 0 ? quotas : undefined,
  });
}

/** The options that were given. */
function given(options: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** The number that an option names; what is none stays text, for the message that rejects it. */
function wholeNumber(option: string | undefined): number | string | undefined {
  return option !== undefined && /^\d+$/.test(option) ? Number(option) : option;
}

function stateOf({ revokedAt, expiresAt, ban }: ApiKey): string {
  if (revokedAt) return `revoked ${revokedAt}`;
  if (expiresAt && Date.parse(expiresAt) <= Date.now()) return `expired ${expiresAt}`;
  if (ban) return `banned until ${ban.until}`;
  return expiresAt ? `expires ${expiresAt}` : 'in force';
}

/** The secret alone on standard output, so that it can be piped; what a person is to know beside it. */
function showSecret({ id, name, key }: { id: number; name: string; key: string }, note: string): void {
  process.stdout.write(`${key}\n`);
  process.stderr.write(`API key ${id} (${name}). ${note}\n`);
}

function print(resource: object): void {
  process.stdout.write(`${JSON.stringify(resource, null, 2)}\n`);
}
