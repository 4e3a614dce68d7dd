import assert from 'node:assert/strict';
import { SECOND } from '../../src/kit/clock.ts';
import type { Answer, Client } from '../support/client.ts';
import { assertRefused } from '../support/refusal.ts';
import type { TestApp } from '../support/test-app.ts';

type KeyClient = Client & { key: string; keyId: number };

/** A key of `perDay` requests a day, which are used up. */
export async function usedUp({ clientWith }: TestApp, perDay = 1): Promise<KeyClient> {
  const client = await clientWith({ plan: 'enterprise', quotas: { perMinute: 1_000, perDay } });
  for (let i = 0; i < perDay; i++) assert.equal((await client.get('/pets')).status, 200);
  return client;
}

/** Asks `times` times and answers the codes that it is refused with. */
export async function codes(client: Client, times: number): Promise<string[]> {
  const answers: string[] = [];
  for (let i = 0; i < times; i++) answers.push((await client.get('/pets')).body.code);
  return answers;
}

/** The codes of so many requests in a row that are refused without a ban. */
export const refused = (times: number) => Array(times).fill('rate_limit_exceeded');

/** Goes on calling until it is banned: the forgiveness, nine strikes and the tenth. Answers the refusal. */
export async function provokeBan({ clock }: TestApp, client: Client): Promise<Answer> {
  assert.equal((await client.get('/pets')).body.code, 'rate_limit_exceeded');
  clock.turn(2 * SECOND);
  return strikeOut(client);
}

/** Ten requests after the forgiveness, the last of which is banned. Answers the refusal. */
export async function strikeOut(client: Client): Promise<Answer> {
  assert.deepEqual(await codes(client, 9), refused(9));
  const tenth = await client.get('/pets');
  assertRefused(tenth, 429, 'api_key_banned');
  return tenth;
}
