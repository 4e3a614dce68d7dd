import {
  type ApiKey,
  ApiKeyPatch,
  changedSettings,
  NewApiKey,
  Rotation,
} from '../access/api-keys/api-key.ts';
import * as apiKeys from '../access/api-keys/api-keys.ts';
import { busiestKeys } from '../access/rate-limits/busiest-keys.ts';
import { KeyLimits } from '../access/rate-limits/key-limits.ts';
import { readConfig } from '../config.ts';
import { ApiError } from '../contract/errors.ts';
import { pageLimit } from '../contract/schema.ts';
import { openCounters } from '../counters/open-counters.ts';
import { reasonOf } from '../counters/redis-client.ts';
import { withCause } from '../db/cause-store.ts';
import { bodyReader } from '../http/validate.ts';
import { type Arguments, argumentsOf, type Options } from './arguments.ts';
import { UsageError } from './failure.ts';
import { withExistingStore } from './store.ts';

const actions = new Map(Object.entries({ create, list, show, change, rotate, revoke, unban, reset, usage }));

/** `keys …`: manages API keys directly in the store, without an API key. A running service applies changes within a second. */
export async function keys([action = '', ...args]: string[]): Promise<void> {
  const run = actions.get(action);
  if (run === undefined) {
    const known = [...actions.keys()].join(', ');
    throw new UsageError(
      `${action ? `There is no command "keys ${action}"` : 'The command is incomplete'}: use keys with one of ${known}`,
    );
  }
  await run(args).catch(error => {
    throw error instanceof ApiError ? new UsageError(withOptions(error.message), { cause: error }) : error;
  });
}

/** The options whose names differ from the fields of the API. */
const optionOfField: Record<string, string> = {
  scopes: 'scope',
  origins: 'origin',
  allowedNetworks: 'network',
  expiresAt: 'expires',
  graceSeconds: 'grace',
  quotas: 'per-minute and --per-day',
  'quotas.perMinute': 'per-minute',
  'quotas.perDay': 'per-day',
};

/** The message of the API with options in place of fields. */
function withOptions(message: string): string {
  return message
    .replace('`quotas` with `perMinute` and `perDay`', '--per-minute and --per-day')
    .replace(
      /[Ff]ield `([a-zA-Z.]*[a-zA-Z])(?:\.\d+)?`/g,
      (_, field: string) => `--${optionOfField[field] ?? field}`,
    );
}

const settings = {
  name: { type: 'string' },
  plan: { type: 'string' },
  scope: { type: 'string', multiple: true },
  'per-minute': { type: 'string' },
  'per-day': { type: 'string' },
  expires: { type: 'string' },
  origin: { type: 'string', multiple: true },
  network: { type: 'string', multiple: true },
} as const;

async function create(args: string[]): Promise<void> {
  const { values } = argumentsOf(args, { ...settings, kind: { type: 'string' } });
  for (const option of ['name', 'plan', 'scope'] as const) {
    if (values[option] === undefined)
      throw new UsageError(`Option --${option} is required: keys create needs --name, --plan and --scope`);
  }
  if ((values['per-minute'] === undefined) !== (values['per-day'] === undefined)) {
    throw new UsageError('Options --per-minute and --per-day must be given together');
  }
  const wanted = bodyReader(NewApiKey)(fieldsOf(values)) as NewApiKey;
  const created = await withKeys(access => apiKeys.create(access, wanted));
  showSecret(created, 'It is shown only once: store it safely');
}

async function list(args: string[]): Promise<void> {
  argumentsOf(args, {});
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
  const { expires, network = [], ...others } = values;
  const fields = {
    ...fieldsOf(others),
    ...(expires !== undefined && { expiresAt: expires === 'never' ? null : expires }),
    ...(network.length > 0 && { allowedNetworks: network.join() === 'any' ? null : network }),
  };
  if (Object.keys(fields).length === 0)
    throw new UsageError('Name at least one setting to change, such as --plan pro');
  const patch = bodyReader(ApiKeyPatch)(fields);
  print(await withKeys(access => apiKeys.change(access, id, current => changedSettings(current, patch))));
}

async function rotate(args: string[]): Promise<void> {
  const { id, values } = oneKey('rotate', args, { grace: { type: 'string' } });
  const fields = given({ graceSeconds: wholeNumber(values.grace) });
  const rotation = bodyReader(Rotation)(fields) as Rotation;
  const rotated = await withKeys(access => apiKeys.rotate(access, id, rotation));
  const earlier = rotated.earlierKeysExpireAt;
  const isOver = Date.parse(earlier) <= Date.now();
  showSecret(
    rotated,
    `It is shown only once. Earlier secrets ${isOver ? 'no longer work' : `expire by ${earlier}`}`,
  );
}

async function revoke(args: string[]): Promise<void> {
  const { id } = oneKey('revoke', args, {});
  await withKeys(access => apiKeys.revoke(access, id, () => {}));
  process.stdout.write(`API key ${id} is revoked\n`);
}

async function unban(args: string[]): Promise<void> {
  const { id } = oneKey('unban', args, {});
  const wasBanned = await withKeys(access => apiKeys.liftBan(access, id));
  process.stdout.write(`API key ${id} ${wasBanned ? 'is no longer banned' : 'was not banned'}\n`);
}

async function reset(args: string[]): Promise<void> {
  const { id } = oneKey('reset', args, {});
  await withKeys(access => apiKeys.reset(access, id));
  process.stdout.write(`The limits of API key ${id} start again, and its ban is lifted if it had one\n`);
}

async function usage(args: string[]): Promise<void> {
  if (args.length === 0) return listUsage();
  const { id } = oneKey('usage', args, {});
  print(await withKeys(access => apiKeys.usage(access, id)));
}

/** Prints the keys with the most requests today: ID, name, admitted and rejected requests. */
async function listUsage(): Promise<void> {
  const { maximum } = pageLimit;
  const { keys: busiest } = await withExistingStore(db => busiestKeys(db, Date.now(), maximum));
  for (const { keyId, name, admitted, refused } of busiest)
    process.stdout.write(`${keyId}\t${name}\t${admitted}\t${refused}\n`);
}

/** Opens the keys of the store that the environment names, with their usage from Redis or as last stored by the service. */
function withKeys<T>(work: (access: apiKeys.KeyAccess) => Promise<T>): Promise<T> {
  const { banRules, redisUrls: urls, redisPrefix: prefix } = readConfig(process.env);
  return withExistingStore(async db => {
    const now = Date.now();
    const counters = openCounters({ urls, prefix, clock: 'redis', onStatus: reportRedis });
    const keyLimits = new KeyLimits({ db, counters, banRules, onBan: () => {} });
    try {
      await counters.open();
      await keyLimits.load(now);
      const cause = { actor: 'system', reason: 'An operator used `keys` on the command line' };
      return await work({ db: withCause(db, cause), keyLimits, now });
    } finally {
      await counters.close();
    }
  });
}

function reportRedis(_status: 'shared' | 'fallback', error?: Error): void {
  if (error === undefined) return;
  process.stderr.write(
    `Redis cannot be used (${reasonOf(error)}): usage and bans are those that the store last had\n`,
  );
}

/** Parses the ID and the options of an action on one key. */
function oneKey<T extends Options>(action: string, args: string[], options: T) {
  const { positionals, values } = argumentsOf(args, options, { allowPositionals: true });
  const [id, ...more] = positionals;
  if (id === undefined || more.length > 0 || !/^[1-9]\d{0,15}$/.test(id)) {
    throw new UsageError(`Name one API key by its ID: keys ${action} 3`);
  }
  return { id: Number(id), values };
}

type Settings = Arguments<typeof settings>['values'] & { kind?: string | undefined };

/** The settings of a key in the form of a request body. */
function fieldsOf({
  name,
  kind,
  plan,
  scope: scopes,
  expires: expiresAt,
  origin: origins,
  network: allowedNetworks,
  ...limits
}: Settings): object {
  const quotas = given({
    perMinute: wholeNumber(limits['per-minute']),
    perDay: wholeNumber(limits['per-day']),
  });
  return given({
    name,
    kind,
    plan,
    scopes,
    expiresAt,
    origins,
    allowedNetworks,
    quotas: Object.keys(quotas).length > 0 ? quotas : undefined,
  });
}

/** The options that were given. */
function given(options: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** The number in an option. Other text stays text, so that the error message can quote it. */
function wholeNumber(option: string | undefined): number | string | undefined {
  return option !== undefined && /^-?\d+$/.test(option) ? Number(option) : option;
}

function stateOf({ revokedAt, expiresAt, ban }: ApiKey): string {
  if (revokedAt) return `revoked ${revokedAt}`;
  if (expiresAt && Date.parse(expiresAt) <= Date.now()) return `expired ${expiresAt}`;
  if (ban) return `banned until ${ban.until}`;
  return expiresAt ? `expires ${expiresAt}` : 'active';
}

/** Writes the secret alone to standard output, so that it can be piped, and the note for people to standard error. */
function showSecret({ id, name, key }: { id: number; name: string; key: string }, note: string): void {
  process.stdout.write(`${key}\n`);
  process.stderr.write(`API key ${id} (${name}). ${note}\n`);
}

function print(resource: object): void {
  process.stdout.write(`${JSON.stringify(resource, null, 2)}\n`);
}
