/**
 * The two measured operations, in the structure of Feathers' own generator: Koa, knex on better-sqlite3, a schema for input and
 * a resolver for output, with rate-limiter-flexible and pino, which its guides recommend. Commits are as durable as those of
 * the service.
 *
 * It does less than the service, which is in its favour: no Idempotency-Key, no ETag, no deprecation headers.
 */
import { hash, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Forbidden, NotAuthenticated, TooManyRequests, Unprocessable } from '@feathersjs/errors';
import { feathers } from '@feathersjs/feathers';
import { KnexService } from '@feathersjs/knex';
import { bodyParser, errorHandler, koa, rest } from '@feathersjs/koa';
import { Ajv, getValidator, hooks, resolve } from '@feathersjs/schema';
import knex from 'knex';
import { pino } from 'pino';
import { RateLimiterMemory } from 'rate-limiter-flexible';

const MINUTE_SECONDS = 60;
const DAY_SECONDS = 86_400;
/** Quotas that no load reaches. The limits are still checked and counted. */
const PER_MINUTE = 1_000_000_000;
const PER_DAY = 1_000_000_000_000;
const WellFormedId = /^[\w.-]{1,128}$/;

const directory = process.env.PETSTORE_DATA ?? '.';
const logger = pino({ level: process.env.LOG_LEVEL ?? 'info' });
const db = knex({
  client: 'better-sqlite3',
  connection: { filename: join(directory, 'petstore.db') },
  useNullAsDefault: true,
  pool: {
    min: 1,
    max: 1,
    afterCreate(connection, done) {
      for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON'])
        connection.pragma(pragma);
      done();
    },
  },
});

const newPetSchema = {
  $id: 'NewPet',
  type: 'object',
  additionalProperties: false,
  required: ['name', 'categoryId'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 200, pattern: '^\\P{Cc}*$' },
    categoryId: { type: 'integer', minimum: 1 },
    status: { type: 'string', enum: ['available', 'pending', 'sold'], default: 'available' },
  },
};
const noQuerySchema = { $id: 'NoQuery', type: 'object', additionalProperties: false, properties: {} };
const validateNewPet = getValidator(newPetSchema, new Ajv({ useDefaults: true }));
const validateNoQuery = getValidator(noQuerySchema, new Ajv());
const storedPet = resolve({ stock: async (_value, pet) => (pet.status === 'sold' ? 0 : 1) });
const shownPet = resolve({ stock: async () => undefined });

const minute = new RateLimiterMemory({ keyPrefix: 'minute', points: PER_MINUTE, duration: MINUTE_SECONDS });
const day = new RateLimiterMemory({ keyPrefix: 'day', points: PER_DAY, duration: DAY_SECONDS });

async function requestLog(ctx, next) {
  const started = performance.now();
  const given = ctx.get('X-Request-Id');
  const requestId = WellFormedId.test(given) ? given : randomUUID();
  ctx.set('X-Request-Id', requestId);
  ctx.set('API-Version', '1.0.0');
  await next();
  logger.info({
    requestId,
    method: ctx.method,
    path: ctx.path,
    status: ctx.status,
    durationMs: performance.now() - started,
    keyId: ctx.feathers?.apiKey?.id,
  });
}

async function health(ctx, next) {
  if (ctx.path !== '/healthz') return next();
  ctx.body = { status: 'ok' };
}

async function authenticate(ctx, next) {
  const apiKey = await db('api_keys')
    .where({ hash: sha256(ctx.get('X-API-Key')) })
    .first();
  if (apiKey === undefined) throw new NotAuthenticated('The API key is missing or unknown');
  ctx.feathers = { ...ctx.feathers, apiKey };
  await next();
}

async function limit(ctx, next) {
  const keyId = String(ctx.feathers.apiKey.id);
  try {
    await day.consume(keyId);
    const { remainingPoints, msBeforeNext } = await minute.consume(keyId);
    ctx.set('X-RateLimit-Limit', String(PER_MINUTE));
    ctx.set('X-RateLimit-Remaining', String(remainingPoints));
    ctx.set('X-RateLimit-Reset', String(Math.ceil((Date.now() + msBeforeNext) / 1000)));
  } catch (used) {
    if (used instanceof Error) throw used;
    throw new TooManyRequests('The limit is used up');
  }
  await next();
}

const requireScope = scope => async context => {
  if (!context.params.apiKey.scopes.split(' ').includes(scope)) {
    throw new Forbidden(`The API key lacks the scope ${scope}`);
  }
};

async function requireCategory({ data: { categoryId } }) {
  const category = await db('categories').where({ id: categoryId }).first();
  if (category === undefined) throw new Unprocessable(`There is no category ${categoryId}`);
}

await createSchema();
const app = koa(feathers());
app.use(requestLog);
app.use(errorHandler());
app.use(health);
app.use(authenticate);
app.use(limit);
app.use(bodyParser({ jsonLimit: '64kb' }));
app.configure(rest());
app.use('pets', new KnexService({ Model: db, name: 'pets', id: 'id' }), { methods: ['get', 'create'] });
app.service('pets').hooks({
  around: { all: [hooks.resolveExternal(shownPet)] },
  before: {
    all: [hooks.validateQuery(validateNoQuery)],
    get: [requireScope('pets:read')],
    create: [
      requireScope('pets:write'),
      hooks.validateData(validateNewPet),
      requireCategory,
      hooks.resolveData(storedPet),
    ],
  },
});
await app.listen(Number(process.env.PORT), process.env.HOST ?? '127.0.0.1');
process.on('SIGTERM', async () => {
  app.server.closeIdleConnections();
  await app.teardown();
  await db.destroy();
});

/** Creates the schema of a new store with one category and one key, whose secret is written to `admin.key`. */
async function createSchema() {
  const keyFile = join(directory, 'admin.key');
  if (existsSync(keyFile)) return;
  await db.schema.createTable('api_keys', table => {
    table.increments();
    table.binary('hash').notNullable().unique();
    table.string('scopes').notNullable();
  });
  await db.schema.createTable('categories', table => {
    table.increments();
    table.string('name').notNullable().unique();
  });
  await db.schema.createTable('pets', table => {
    table.increments();
    table.string('name').notNullable();
    table.integer('categoryId').notNullable().references('categories.id');
    table.string('status').notNullable();
    table.integer('stock').notNullable();
  });
  const secret = `psk_${randomBytes(24).toString('base64url')}`;
  await db('api_keys').insert({ hash: sha256(secret), scopes: 'pets:read pets:write' });
  await db('categories').insert({ name: 'Dogs' });
  writeFileSync(keyFile, secret, { mode: 0o600 });
}

function sha256(text) {
  return hash('sha256', text, 'buffer');
}
