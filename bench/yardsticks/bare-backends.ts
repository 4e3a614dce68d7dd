/**
 * The lower bound on PostgreSQL and Redis: `node:http` that makes the same calls for each request as the service, one after
 * another, with the same drivers, statements and number of connections, and returns the status, headers and body of the service
 * (JSON of `Samples` as its only argument). It checks nothing and counts nothing.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Redis } from 'ioredis';
import pg, { type ClientConfig } from 'pg';
import { type Pet, petTable } from '../../service/src/catalog/pets/pet.ts';
import { insertPet } from '../../service/src/catalog/pets/pet-queries.ts';
import { readConfig } from '../../service/src/config.ts';
import { newState } from '../../service/src/counters/decide.ts';
import { decideScript } from '../../service/src/counters/decide-script.ts';
import { packCall } from '../../service/src/counters/packed-state.ts';
import type { Transaction } from '../../service/src/db/database.ts';
import type { Insert } from '../../service/src/db/insert.ts';
import { insertsOf } from '../../service/src/db/insert-rows.ts';
import { toStored, valuesOf } from '../../service/src/db/new-events.ts';
import { APPEND } from '../../service/src/db/postgres-append.ts';
import { types } from '../../service/src/db/postgres-statements.ts';
import { DAY } from '../../service/src/kit/clock.ts';
import { foldCase } from '../../service/src/kit/text.ts';
import { storedWords } from '../../service/src/kit/words.ts';
import type { BareResponse } from './bare-http.ts';

/** The responses of the service to a GET and to a POST of a pet. */
export interface Samples {
  get: BareResponse;
  post: BareResponse;
}

/** The service divides its ten connections in this way between single reads and transactions. */
const READERS = 3;
const WRITERS = 7;

const samples = JSON.parse(process.argv[2] ?? '') as Samples;
const config = { connectionString: process.env.DATABASE_URL!, pipeline: true, types: types! } as ClientConfig;

const redis = new Redis(process.env.REDIS_URL!, { enableAutoPipelining: true });
const stateKey = 'petstore:limits:{key:bench}';
// No load reaches these quotas.
const limits = { perMinute: 1_000_000_000, perDay: 1_000_000_000_000 };
const terms = { limits, bansLiftedAt: 0, banRules: readConfig({}).banRules };
const call = { what: 1, now: undefined, ttl: 2 * DAY, terms } as const;
/** The call that decides a request of a key, as the service makes it for a single request. */
const decide = packCall({ ...call, seed: undefined });
const sha = (await redis.script('LOAD', decideScript)) as string;
await redis.evalsha(sha, 1, stateKey, packCall({ ...call, seed: newState(Date.now()) }));
const readers = await Promise.all(Array.from({ length: READERS }, () => connected()));
const writers = new pg.Pool({ ...config, max: WRITERS });

const select = { name: 'select', text: textOf(db => petTable.find(db, 1)) };
const insert = {
  name: 'insert',
  text: textOf(db => insertPet(db, { name: '', categoryId: 1, status: 'available' }, 1)),
};
let turn = 0;

createServer((request, response) => {
  handle(request, response).catch(error => {
    process.stderr.write(`${error.stack}\n`);
    response.writeHead(500).end();
  });
}).listen(Number(process.env.PORT), process.env.HOST);

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/healthz') {
    response.end();
    return;
  }
  await redis.evalsha(sha, 1, stateKey, decide);
  if (request.method === 'POST') {
    const pet = await create(JSON.parse(await text(request)));
    samples.post.headers.location = `/pets/${pet.id}`;
    send(response, samples.post, pet);
  } else {
    send(response, samples.get, await read(Number(request.url!.slice('/pets/'.length))));
  }
}

async function read(id: number): Promise<Pet> {
  turn = (turn + 1) % READERS;
  const { rows } = await readers[turn]!.query({ ...select, values: [id] });
  return petTable.toResource(rows[0]);
}

async function create({ name, categoryId }: { name: string; categoryId: number }): Promise<Pet> {
  const client = await writers.connect();
  const pet = { name, categoryId, status: 'available' } as const;
  const values = [...petTable.valuesOf(pet), 1, categoryId];
  const [, inserted] = await Promise.all([
    client.query('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE'),
    client.query({ ...insert, values }),
  ]);
  const created = petTable.storedAs(inserted.rows[0].id, pet);
  const event = {
    type: 'pet.created',
    subject: `pets/${created.id}`,
    data: JSON.stringify(created),
    actor: 'keys/1',
    requestId: randomUUID(),
  };
  const key = foldCase(name);
  const rows = storedWords(key).map(word => [word, key, created.id]);
  const words = insertsOf('pet_words (word, name_key, pet_id)', rows).map(([sql, values]) =>
    client.query({ name: sql, text: numbered(sql), values }),
  );
  const append = { name: 'append', text: APPEND, values: valuesOf(toStored(event, Date.now())) };
  await Promise.all([...words, client.query(append), client.query('COMMIT')]);
  client.release();
  return created;
}

function send(response: ServerResponse, { status, headers }: BareResponse, pet: Pet): void {
  const body = JSON.stringify(pet);
  headers['content-length'] = String(Buffer.byteLength(body));
  response.writeHead(status, headers);
  response.end(body);
}

/** Returns the SQL that a function of the service sends, with the parameters of PostgreSQL. */
function textOf(query: (tx: Transaction) => Promise<unknown>): string {
  let sent = '';
  const note = async (sql: string) => {
    sent = sql;
  };
  const insert = ({ postgres }: Insert) => note(postgres);
  void query({ get: note, insert } as unknown as Transaction);
  return numbered(sent);
}

/** Returns SQL with the parameters of PostgreSQL. */
function numbered(sql: string): string {
  let parameters = 0;
  return sql.replaceAll('?', () => `$${++parameters}`);
}

async function connected(): Promise<pg.Client> {
  const client = new pg.Client(config);
  await client.connect();
  return client;
}
