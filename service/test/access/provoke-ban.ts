import assert from 'node:assert/strict';
import { SECOND } from '../../src/kit/clock.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { assertRejected } from '../support/rejection.ts';
import type { TestApp } from '../support/test-app.ts';

type KeyClient = Client & { key: string; keyId: number };

/** A client whose key has `perDay` requests a day and has used them up. The key is an administrator's unless `scopes` are given. */
export async function usedUp(
  { clientWith }: TestApp,
  perDay = 1,
  scopes: string[] = ['admin'],
): Promise<KeyClient> {
  const client = await clientWith({ plan: 'enterprise', scopes, quotas: { perMinute: 1_000, perDay } });
  for (let i = 0; i < perDay; i++) assert.equal((await client.get('/pets')).status, 200);
  return client;
}

/** Sends `times` requests and returns the codes of their errors. */
export async function codes(client: Client, times: number): Promise<string[]> {
  const responses: string[] = [];
  for (let i = 0; i < times; i++) responses.push((await client.get('/pets')).body.code);
  return responses;
}

/** Sends a request with each client and returns their statuses. */
export async function statuses(...clients: Client[]): Promise<number[]> {
  const responses: number[] = [];
  for (const client of clients) responses.push((await client.get('/pets')).status);
  return responses;
}

/** The codes of `times` requests that are rejected without a ban. */
export const rejected = (times: number) => Array(times).fill('rate_limit_exceeded');

/** Sends requests until the key is banned: one rejection, nine strikes and the tenth. Returns the last response. */
export async function provokeBan({ clock }: TestApp, client: Client): Promise<ApiResponse> {
  assert.equal((await client.get('/pets')).body.code, 'rate_limit_exceeded');
  clock.advance(2 * SECOND);
  return strikeOut(client);
}

/** Sends ten requests after the forgiveness, of which the last is banned. Returns its response. */
async function strikeOut(client: Client): Promise<ApiResponse> {
  assert.deepEqual(await codes(client, 9), rejected(9));
  const tenth = await client.get('/pets');
  assertRejected(tenth, 429, 'api_key_banned');
  return tenth;
}
