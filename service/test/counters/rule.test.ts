import { after, before, describe } from 'node:test';
import { type RedisConnection, redisConnection } from '../../src/counters/redis-client.ts';
import { testRedis } from '../support/test-redis.ts';
import { describeBans } from './bans.ts';
import { describeDecisions } from './decisions.ts';
import { inProcess, inRedis } from './rule.ts';
import { describeVisits } from './visits.ts';

describeDecisions(inProcess);
describeBans(inProcess);
describeVisits(inProcess);

describe('the script in Redis', () => {
  let connection: RedisConnection;
  before(async () => {
    const { url } = await testRedis({ after });
    connection = await redisConnection([url]);
    await connection.open();
  });
  after(() => connection.end());

  const rule = inRedis(() => connection);
  describeDecisions(rule);
  describeBans(rule);
  describeVisits(rule);
});
