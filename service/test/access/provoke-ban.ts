import assert from 'node:assert/strict';
import { SECOND } from '../../src/kit/clock.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { assertRejected } from '../support/rejection.ts';
import type { TestApp } from '../support/test-app.ts';

type KeyClient = Client & { key: string; keyId: number };

/** A key of `perDay` requests a day, which are used up. */
export async function usedUp({ clientWith }: TestApp, perDay = 1): Promise<KeyClient> {
  const client = await clientWith({ plan: 'enterprise', quotas: { perMinute: 1_000, perDay } });
  for (let i = 0; i < perDay; i++) assert.equal((await client.get('/pets')).status, 200);
  return client;
}

/** Asks `times` times and answers the codes that it is rejected with. */
export async function codes(client: Client, times: number): Promise<string[]> {
  const responses: string[] = [];
  for (let i = 0; i < times; i++) responses.push((await client.get('/pets')).body.code);
  return responses;
}

/** The codes of so many requests in a row that are rejected without a ban. */
export const rejected = (times: number) => Array(times).fill('rate_limit_exceeded');

/** Goes on calling until it is banned: the forgiveness, nine strikes and the tenth. Answers the rejection. */
export async function provokeBan({ clock }: TestApp, client: Client): Promise<ApiResponse> {
  assert.equal((await client.get('/pets')).body.code, 'rate_limit_exceeded');
  clock.turn(2 * SECOND);
  return strikeOut(client);
}

/** Ten requests after the forgiveness, the last of which is banned. Answers the rejection. */
export async function strikeOut(client: Client): Promise<ApiResponse> {
  assert.deepEqual(await codes(client, 9), rejected(9));
  const tenth = await client.get('/pets');
  assertRejected(tenth, 429, 'api_key_banned');
  return tenth;
}
