import type { ApiKey } from '@petstore/client';
import { command } from '../command.ts';
import { UsageError } from '../failure.ts';
import { changedList, changes, defined, each, eachDone, pageSize } from '../items.ts';
import { noteSecret } from '../note-secret.ts';
import { id, integer, oneOf, removable, required, several, text } from '../parameters.ts';
import { busyKey, createdKey, key, leakReport, listedKey, outcome, rotatedKey, usage } from '../resources.ts';
import { SECRETS_AT_ONCE, secretsIn } from '../secrets-in-file.ts';

export const PLANS = ['free', 'pro', 'business', 'enterprise'] as const;
const SCOPES = [
  'pets:read',
  'pets:write',
  'orders:read',
  'orders:write',
  'inventory:read',
  'inventory:write',
  'events:read',
  'webhooks:write',
  'admin',
] as const;
const one = required(id('The API key'));
const ids = several(required(id('The API keys')));
const TIME = 'a time, such as 2027-01-31T12:00:00Z';
const scope = several(oneOf('What the key may do; can be repeated', ...SCOPES));
const origin = several(text('An origin of the pages that use a publishable key; can be repeated', 'origin'));
const UNUSED_AFTER = 90 * 86_400_000;
const NETWORKS =
  'An address or a range such as 203.0.113.0/24 from which the key can be used; can be repeated';
const quotas = {
  perMinute: integer('Requests per minute of an Enterprise key'),
  perDay: integer('Requests per day of an Enterprise key'),
};

const list = command({
  name: 'keys list',
  summary: 'List API keys, with those that have sent no request for 90 days',
  options: {
    name: text('Only keys whose name starts with this text'),
    plan: oneOf('Only keys of this plan', ...PLANS),
    revoked: oneOf('Only revoked keys (true) or others (false)', 'true', 'false'),
    sort: oneOf('The order; a leading - means descending', 'id', '-id', 'name', '-name'),
  },
  examples: [
    'petstore keys list --revoked false',
    'petstore keys list --plan pro --fields id,name,lastUsedAt',
  ],
  operations: ['GET /keys'],
  output: 'list',
  prints: listedKey,
  run: (context, { name, plan, revoked, sort }) => {
    const query = { ...pageSize(context), name, plan, revoked: revoked && revoked === 'true', sort };
    const { pages } = context.store.keys.list(query, context.calls);
    return changedList(pages, key => ({ ...key, unused: isUnused(key, Date.now()) }));
  },
});

/** Whether a key that is not revoked has sent no request for 90 days. */
function isUnused({ createdAt, lastUsedAt, revokedAt }: ApiKey, now: number): boolean {
  return revokedAt === null && now - Date.parse(lastUsedAt ?? createdAt) >= UNUSED_AFTER;
}

const get = command({
  name: 'keys get',
  aliases: ['keys show'],
  summary: 'Show API keys, without their secrets',
  arguments: { ids },
  examples: ['petstore keys get 2'],
  operations: ['GET /keys/{keyId}'],
  output: 'items',
  prints: key,
  run: (context, { ids }) => each(context, ids, id => context.store.keys.get(id, context.calls)),
});

const create = command({
  name: 'keys create',
  summary: 'Create an API key, and show its secret once',
  arguments: { name: required(text('Who or what uses the key', 'name')) },
  options: {
    plan: required(oneOf('The plan, whose limits apply', ...PLANS)),
    scope: required(scope),
    kind: oneOf(
      'secret, publishable for pages in browsers, or test, whose changes are undone',
      'secret',
      'publishable',
      'test',
    ),
    origin,
    network: several(text(NETWORKS, 'network')),
    expires: text(`When the key expires: ${TIME}`, 'time'),
    ...quotas,
  },
  examples: [
    'petstore keys create "Web shop" --plan pro --scope pets:read --scope orders:write',
    'petstore keys create Page --plan free --scope pets:read --kind publishable --origin https://shop.example',
    'petstore keys create Tests --plan free --scope orders:write --kind test',
  ],
  operations: ['POST /keys'],
  output: 'item',
  prints: createdKey,
  run: async (context, { name, plan, scope: scopes, kind, origin, network, expires, perMinute, perDay }) => {
    const origins = origin.length > 0 ? origin : undefined;
    const allowedNetworks = network.length > 0 ? network : undefined;
    const common = defined({ name, scopes, kind, origins, allowedNetworks, expiresAt: expires });
    const { store, calls } = context;
    if (plan !== 'enterprise') {
      if (perMinute !== undefined || perDay !== undefined)
        throw new UsageError('--per-minute and --per-day belong to --plan enterprise');
      return noteSecret(context, 'keys', store.keys.create({ ...common, plan }, calls));
    }
    if (perMinute === undefined || perDay === undefined)
      throw new UsageError('The plan enterprise needs --per-minute and --per-day');
    return noteSecret(
      context,
      'keys',
      store.keys.create({ ...common, plan, quotas: { perMinute, perDay } }, calls),
    );
  },
});

const update = command({
  name: 'keys update',
  aliases: ['keys change'],
  summary: 'Change an API key',
  arguments: { id: one },
  options: {
    name: text('The new name'),
    plan: oneOf('The new plan', ...PLANS),
    scope,
    origin,
    network: several(text(`${NETWORKS}; "" for everywhere`, 'network')),
    expires: removable(`When the key expires: ${TIME}`, 'time'),
    ...quotas,
  },
  examples: ['petstore keys update 2 --plan business', 'petstore keys update 2 --expires ""'],
  operations: ['PATCH /keys/{keyId}'],
  output: 'item',
  prints: key,
  run: ({ store, calls }, { id, name, plan, scope, origin, network, expires, perMinute, perDay }) => {
    const quotas = defined({ perMinute, perDay });
    const fields = changes({
      name,
      plan,
      scopes: scope.length > 0 ? scope : undefined,
      origins: origin.length > 0 ? origin : undefined,
      allowedNetworks:
        network.join() === '' && network.length === 1 ? null : network.length > 0 ? network : undefined,
      expiresAt: expires,
      quotas: Object.keys(quotas).length > 0 ? quotas : undefined,
    });
    return store.keys.update(id, fields, calls);
  },
});

const rotate = command({
  name: 'keys rotate',
  summary: 'Replace the secret of an API key, and show the new one once',
  arguments: { id: one },
  options: {
    grace: integer(
      'How long the earlier secret still works, at most 2592000 (30 days); 86400 unless set',
      'seconds',
    ),
  },
  examples: ['petstore keys rotate 2', 'petstore keys rotate 2 --grace 0'],
  operations: ['POST /keys/{keyId}/rotate'],
  output: 'item',
  prints: rotatedKey,
  run: (context, { id, grace }) =>
    noteSecret(
      context,
      'keys',
      context.store.keys.rotate(id, defined({ graceSeconds: grace }), context.calls),
    ),
});

const remove = command({
  name: 'keys delete',
  aliases: ['keys revoke'],
  confirms: 'Permanently revoke API keys',
  summary: 'Revoke API keys permanently',
  arguments: { ids },
  examples: ['petstore keys delete 2'],
  operations: ['DELETE /keys/{keyId}'],
  output: 'items',
  prints: outcome,
  run: (context, { ids }) =>
    eachDone(context, ids, 'revoked', id => context.store.keys.revoke(id, context.calls)),
});

const unban = command({
  name: 'keys unban',
  summary: 'Lift the ban of API keys',
  arguments: { ids },
  examples: ['petstore keys unban 2'],
  operations: ['DELETE /keys/{keyId}/ban'],
  output: 'items',
  prints: outcome,
  run: (context, { ids }) =>
    eachDone(context, ids, 'unbanned', id => context.store.keys.liftBan(id, context.calls)),
});

const reset = command({
  name: 'keys reset',
  summary: 'Reset the limits of API keys, and lift their bans',
  details: 'Experimental.',
  arguments: { ids },
  examples: ['petstore keys reset 2'],
  operations: ['DELETE /keys/{keyId}/limits'],
  output: 'items',
  prints: outcome,
  run: (context, { ids }) =>
    eachDone(context, ids, 'reset', id => context.store.keys.resetLimits(id, context.calls)),
});

const use = command({
  name: 'keys usage',
  summary: 'Show the requests of an API key, by window and by day, or the busiest keys of today',
  details: 'Without an ID: the API keys with the most requests today (UTC), at most 100. Experimental.',
  arguments: { id: id('The API key') },
  examples: [
    'petstore keys usage',
    'petstore keys usage 2',
    'petstore keys usage 2 --fields windows.day.remaining',
  ],
  operations: ['GET /keys/{keyId}/usage'],
  output: 'item',
  prints: usage,
  // The argument exists: without it the overview runs.
  run: ({ store, calls }, { id }) => store.keys.usage(id!, calls),
  overview: {
    operations: ['GET /key-usage'],
    prints: busyKey,
    run: async function* ({ store, calls }) {
      yield* (await store.keys.busiest({ limit: 100 }, calls)).keys;
    },
  },
});

const reportLeak = command({
  name: 'keys report-leak',
  summary: 'Report the secrets of API keys in a file as leaked: the service revokes their keys',
  details:
    'The file can be any text, such as a log or the report of a secret scanner. Needs no API key. The service does not state which of the secrets exist, and ignores publishable keys. Experimental.',
  arguments: { file: required(text('The file; - is standard input', 'file')) },
  options: { source: text('Where the secrets were found, for the administrators') },
  examples: [
    'petstore keys report-leak gitleaks.json',
    'petstore keys report-leak .env --source "github.com/shop/site"',
  ],
  operations: ['POST /keys/revoke-leaked'],
  needsNoKey: true,
  hasOwnKeys: true,
  input: ({ file }) => (file === '-' ? 'the secrets' : undefined),
  output: 'item',
  prints: leakReport,
  run: async ({ store, calls }, { file, source }) => {
    const secrets = [...(await secretsIn(file, calls.signal!))];
    let wellFormed = 0;
    for (let from = 0; from < secrets.length; from += SECRETS_AT_ONCE) {
      const body = defined({ keys: secrets.slice(from, from + SECRETS_AT_ONCE), source });
      wellFormed += (await store.keys.revokeLeaked(body, calls)).wellFormed;
    }
    return { file, found: secrets.length, wellFormed };
  },
});

export const keys = [list, get, create, update, rotate, remove, unban, reset, use, reportLeak];
