/**
 * The service as it is commonly built: Express, zod, better-sqlite3, express-rate-limit and pino, with what the two measured
 * requests use. Each library is used as its documentation shows; statements are prepared once and nothing is slowed down.
 *
 * It does less than the service, which is in its favour: the rate-limit headers are always those of the minute, it has only
 * two routes, and no Idempotency-Key, which no measured request has.
 */
import { hash, randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { rateLimit } from 'express-rate-limit';
import { pino } from 'pino';
import { z } from 'zod';

const DAY_MS = 86_400_000;
const DEPRECATED_SINCE = '@1735689600';
const SUNSET = 'Thu, 05 Dec 2030 00:00:00 GMT';

const PetParams = z.strictObject({ petId: z.coerce.number().int().positive() });
const NoQuery = z.strictObject({});
const NewPet = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters'),
  categoryId: z.int().positive(),
  status: z.enum(['available', 'pending', 'sold']).default('available'),
});
const WellFormedId = /^[\w.-]{1,128}$/;

class HttpError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const logger = pino({ level: process.env.LOG_LEVEL ?? 'info' });
const directory = process.env.PETSTORE_DATA ?? '.';
const db = new Database(join(directory, 'petstore.db'));
for (const setting of ['journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON']) db.pragma(setting);
db.exec(`
  CREATE TABLE api_keys (
    id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, scopes TEXT NOT NULL,
    per_minute INTEGER NOT NULL, per_day INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE categories (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE) STRICT;
  CREATE TABLE pets (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, category_id INTEGER NOT NULL REFERENCES categories (id),
    status TEXT NOT NULL, stock INTEGER NOT NULL
  ) STRICT;
  INSERT INTO categories (name) VALUES ('Dogs');
`);
const secret = `psk_${randomBytes(24).toString('base64url')}`;
db.prepare('INSERT INTO api_keys (hash, scopes, per_minute, per_day) VALUES (?, ?, ?, ?)').run(
  hash('sha256', secret, 'buffer'),
  'pets:read pets:write',
  1e9,
  1e12,
);
writeFileSync(join(directory, 'admin.key'), secret, { mode: 0o600 });

interface ApiKey {
  id: number;
  scopes: string;
  perMinute: number;
  perDay: number;
}

const findKey = db.prepare<[Buffer], ApiKey>(
  'SELECT id, scopes, per_minute AS perMinute, per_day AS perDay FROM api_keys WHERE hash = ?',
);
const findPet = db.prepare<[number]>(
  'SELECT id, name, category_id AS categoryId, status FROM pets WHERE id = ?',
);
const findCategory = db.prepare<[number]>('SELECT 1 FROM categories WHERE id = ?');
const insertPet = db.prepare<[string, number, string, number]>(
  'INSERT INTO pets (name, category_id, status, stock) VALUES (?, ?, ?, ?)',
);

const requestId: RequestHandler = (req, res, next) => {
  const given = req.get('X-Request-Id');
  res.locals.requestId = given !== undefined && WellFormedId.test(given) ? given : randomUUID();
  res.set('X-Request-Id', res.locals.requestId);
  res.set('API-Version', '1.0.0');
  next();
};

const requestLog: RequestHandler = (req, res, next) => {
  const started = performance.now();
  res.on('finish', () => {
    logger.info({
      requestId: res.locals.requestId,
      method: req.method,
      route: req.route?.path,
      status: res.statusCode,
      durationMs: performance.now() - started,
      keyId: res.locals.apiKey?.id,
    });
  });
  next();
};

const authenticate: RequestHandler = (req, res, next) => {
  const given = req.get('X-API-Key');
  if (given === undefined) throw new HttpError(401, 'missing_api_key', 'An API key is required');
  const apiKey = findKey.get(hash('sha256', given, 'buffer'));
  if (apiKey === undefined) throw new HttpError(401, 'invalid_api_key', 'The API key is unknown');
  res.locals.apiKey = apiKey;
  next();
};

const limit = (window: string, windowMs: number, quota: (key: ApiKey) => number) =>
  rateLimit({
    windowMs,
    limit: (_req, res) => quota(res.locals.apiKey),
    keyGenerator: (_req, res) => String(res.locals.apiKey.id),
    legacyHeaders: true,
    standardHeaders: false,
    handler: (_req, _res, next) =>
      next(new HttpError(429, 'rate_limit_exceeded', `The limit per ${window} is used up`)),
  });

const requireScope =
  (scope: string): RequestHandler =>
  (_req, res, next) => {
    if (!res.locals.apiKey.scopes.split(' ').includes(scope)) {
      throw new HttpError(403, 'insufficient_scope', `The API key lacks the scope ${scope}`);
    }
    next();
  };

const deprecated: RequestHandler = (req, res, next) => {
  res.set('Deprecation', DEPRECATED_SINCE);
  res.set('Sunset', SUNSET);
  res.append('Link', `</pets?id=${req.params.petId}>; rel="successor-version"`);
  res.append('Link', '</docs/deprecations>; rel="deprecation"');
  next();
};

const createPet: RequestHandler = (req, res) => {
  const { name, categoryId, status } = NewPet.parse(req.body);
  const insert = db.transaction(() => {
    if (findCategory.get(categoryId) === undefined) {
      throw new HttpError(422, 'unknown_category', `There is no category ${categoryId}`);
    }
    return Number(insertPet.run(name, categoryId, status, status === 'sold' ? 0 : 1).lastInsertRowid);
  });
  const id = insert.immediate();
  res.status(201).location(`/pets/${id}`).json({ id, name, categoryId, status });
};

const readPet: RequestHandler = (req, res) => {
  const { petId } = PetParams.parse(req.params);
  const pet = findPet.get(petId);
  if (pet === undefined) throw new HttpError(404, 'pet_not_found', `There is no pet ${petId}`);
  res.json(pet);
};

const rejectQuery: RequestHandler = (req, _res, next) => {
  NoQuery.parse(req.query);
  next();
};

const routeNotFound: RequestHandler = req => {
  throw new HttpError(404, 'route_not_found', `There is no ${req.method} ${req.path}`);
};

const sendError: ErrorRequestHandler = (error, _req, res, _next) => {
  const known = asHttpError(error);
  if (known.status >= 500) logger.error({ requestId: res.locals.requestId, err: error });
  res.status(known.status).json({ code: known.code, message: known.message, status: known.status });
};

function asHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof z.ZodError) return new HttpError(400, 'invalid_request', z.prettifyError(error));
  if (error instanceof Error && 'type' in error && 'status' in error && typeof error.status === 'number') {
    const code = error.status === 413 ? 'payload_too_large' : 'invalid_request';
    return new HttpError(error.status, code, error.message);
  }
  return new HttpError(500, 'internal_error', 'Something went wrong');
}

const app = express();
app.disable('x-powered-by');
app.set('etag', 'strong');
app.get('/healthz', (_req, res) => {
  res.json({ status: 'ok' });
});
app.use(requestId, requestLog, authenticate);
app.use(
  limit('day', DAY_MS, key => key.perDay),
  limit('minute', 60_000, key => key.perMinute),
);
app.use(express.json({ limit: '64kb' }));
app.get('/pets/:petId', requireScope('pets:read'), rejectQuery, deprecated, readPet);
app.post('/pets', requireScope('pets:write'), rejectQuery, createPet);
app.use(routeNotFound);
app.use(sendError);

const server = app.listen(Number(process.env.PORT), process.env.HOST ?? '127.0.0.1');
process.on('SIGTERM', () => {
  server.close(() => db.close());
  server.closeIdleConnections();
});
