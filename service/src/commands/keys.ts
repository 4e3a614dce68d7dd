import { parseArgs } from 'node:util';
import { NewApiKey } from '../access/api-keys/api-key.ts';
import * as apiKeys from '../access/api-keys/api-keys.ts';
import { bodyReader } from '../http/validate.ts';
import { UsageError } from './failure.ts';
import { withStore } from './store.ts';

/** `keys create | list | revoke`: for an operator at the store, without a key of their own. */
export async function keys([action, ...args]: string[]): Promise<void> {
  switch (action) {
    case 'create':
      return create(args);
    case 'list':
      return list(args);
    case 'revoke':
      return revoke(args);
    default:
      throw new UsageError('Say what to do: keys create, keys list or keys revoke ID');
  }
}

async function create(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      name: { type: 'string' },
      plan: { type: 'string' },
      scope: { type: 'string', multiple: true },
      'per-minute': { type: 'string' },
      'per-day': { type: 'string' },
      expires: { type: 'string' },
    },
  });
  const { name, plan, scope: scopes, expires: expiresAt } = values;
  for (const option of ['name', 'plan', 'scope'] as const) {
    if (values[option] === undefined) throw new UsageError(`keys create needs --${option}`);
  }
  if ((values['per-minute'] === undefined) !== (values['per-day'] === undefined)) {
    throw new UsageError('--per-minute and --per-day go together');
  }
  const quotas = given({
    perMinute: wholeNumber(values['per-minute']),
    perDay: wholeNumber(values['per-day']),
  });
  const wanted = bodyReader(NewApiKey)(given({ name, plan, scopes, quotas, expiresAt }) ?? {}) as NewApiKey;
  const created = await withStore(db => apiKeys.create(db, wanted, Date.now()));
  process.stdout.write(`${created.key}\n`);
  process.stderr.write(`API key ${created.id} (${created.name}). It is shown this once: keep it safe.\n`);
}

/** The options that were given; `undefined` when none was. */
function given(options: Record<string, unknown>): object | undefined {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

/** The number that an option names; what is none stays text, for the message that refuses it. */
function wholeNumber(option: string | undefined): number | string | undefined {
  return option !== undefined && /^\d+$/.test(option) ? Number(option) : option;
}

async function list(args: string[]): Promise<void> {
  parseArgs({ args, options: {} });
  await withStore(async db => {
    for (let cursor: string | undefined; ; ) {
      const page = await apiKeys.list(db, { sort: 'id', limit: 100, cursor });
      for (const { id, name, plan, scopes, expiresAt, revokedAt } of page.items) {
        const state = revokedAt ? `revoked ${revokedAt}` : expiresAt ? `expires ${expiresAt}` : 'in force';
        process.stdout.write(`${id}\t${name}\t${plan}\t${scopes.join(',')}\t${state}\n`);
      }
      if (page.next === undefined) return;
      cursor = page.next;
    }
  });
}

async function revoke(args: string[]): Promise<void> {
  const { positionals } = parseArgs({ args, options: {}, allowPositionals: true });
  const [id, ...more] = positionals;
  if (id === undefined || more.length > 0 || !/^[1-9]\d{0,15}$/.test(id)) {
    throw new UsageError('Name one API key by its ID: keys revoke 3');
  }
  await withStore(db => apiKeys.revoke(db, Number(id), () => {}, Date.now()));
  process.stdout.write(`API key ${id} is revoked.\n`);
}
