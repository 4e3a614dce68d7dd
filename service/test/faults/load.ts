import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import type { ServiceProcess } from '../support/service-process.ts';
import { LONGEST_RESPONSE, respondedInTime } from './shop-on-postgres.ts';

const CLIENTS = 400;

/** A body of nearly the maximum size: the service must not retain those that it rejects. */
const body = `{"name": "Never"${' '.repeat(60_000)}}`;

/** Many clients send one request after another for this long. Returns how many requests were rejected with 503. */
export async function load({ url, adminKey }: ServiceProcess, milliseconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const end = performance.now() + milliseconds;
  let sent = 0;
  let rejected = 0;
  const send = (method: string, path: string, content?: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = { 'x-api-key': adminKey, ...(content && { 'content-type': 'application/json' }) };
      httpRequest(`${url}${path}`, { agent, method, headers }, response => {
        response.resume().on('end', () => resolve(response.statusCode!));
      })
        .on('error', reject)
        .end(content);
    });
  const client = async () => {
    while (performance.now() < end) {
      const status = await (++sent % 10 ? send('GET', '/pets') : send('PATCH', '/categories/1000', body));
      assert.ok([200, 404, 503].includes(status), String(status));
      if (status === 503) rejected++;
    }
  };
  try {
    await respondedInTime(Array.from({ length: CLIENTS }, client), milliseconds + LONGEST_RESPONSE);
  } finally {
    agent.destroy();
  }
  return rejected;
}

/** The resident memory of a process, in MB. */
export function residentMegabytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return Number(kilobytes) / 1024;
}
