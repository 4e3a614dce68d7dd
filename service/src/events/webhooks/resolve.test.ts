import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import { resolveByServers } from './resolve.ts';

const A = 1;
const AAAA = 28;

const records: Record<string, Record<number, number[]>> = {
  'four.example': { [A]: [93, 184, 215, 14] },
  'six.example': { [AAAA]: [0x20, 0x01, ...Array(13).fill(0), 1] },
  'both.example': { [A]: [93, 184, 215, 14], [AAAA]: [0x20, 0x01, ...Array(13).fill(0), 1] },
};

/** Returns the response of a name server (RFC 1035 §4.1): the record, no record, or the error for an unknown name. */
function responseTo(query: Buffer): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const labels: string[] = [];
  for (let at = 12; query[at] !== 0; at += query[at]! + 1)
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
  const known = records[labels.join('.')];
  const type = query.readUInt16BE(end - 4);
  const data = known?.[type];
  const header = Buffer.from([
    query[0]!,
    query[1]!,
    0x81,
    known ? 0x80 : 0x83,
    0,
    1,
    0,
    data ? 1 : 0,
    0,
    0,
    0,
    0,
  ]);
  const record = data ? [0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length, ...data] : [];
  return Buffer.concat([header, query.subarray(12, end), Buffer.from(record)]);
}

async function aNameServer(t: TestContext): Promise<Resolver> {
  const server: Socket = createSocket('udp4');
  server.on('message', (query, { port, address }) => server.send(responseTo(query), port, address));
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const resolver = new Resolver({ timeout: 30_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${server.address().port}`]);
  return resolver;
}

describe('a name', () => {
  it('is resolved to all its addresses, of both kinds', async t => {
    const resolve = resolveByServers(await aNameServer(t));
    const four = { address: '93.184.215.14', family: 4 };
    const six = { address: '2001::1', family: 6 };
    assert.deepEqual(await resolve('four.example'), [four]);
    assert.deepEqual(await resolve('six.example'), [six]);
    assert.deepEqual(await resolve('both.example'), [four, six]);
  });

  it('that is unknown is rejected', async t => {
    const resolve = resolveByServers(await aNameServer(t));
    await assert.rejects(resolve('nowhere.example'), { code: 'ENOTFOUND' });
  });
});
