import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutPassword } from './urls.ts';

describe('a URL without its password', () => {
  const cases: [url: string, shown: string][] = [
    ['postgres://db/shop', 'postgres://db/shop'],
    ['postgres://user@db:5432/shop?sslmode=require', 'postgres://user@db:5432/shop?sslmode=require'],
    ['postgres://user:secret@db/shop', 'postgres://user:***@db/shop'],
    ['postgres://:secret@db/shop', 'postgres://:***@db/shop'],
    ['postgres://user:s%65cret%2F@db/shop', 'postgres://user:***@db/shop'],
    ['postgres://db/shop?password=secret', 'postgres://db/shop'],
    ['postgres://user@db/shop?sslmode=require&password=secret', 'postgres://user@db/shop?sslmode=require'],
    ['postgres://db/shop?password=secret&password=secret', 'postgres://db/shop'],
    ['postgres://db/shop?p%61ssword=secret', 'postgres://db/shop'],
    ['postgres://db/shop?Password=secret&PASSWORD=secret', 'postgres://db/shop'],
    ['postgres://db/shop?sslpassword=secret&sslmode=require', 'postgres://db/shop?sslmode=require'],
    ['postgres://user:secret@db/shop?password=secret', 'postgres://user:***@db/shop'],
    [
      'postgres://user:secret@a:5432,[::1]:5433/shop?password=secret&target_session_attrs=read-write',
      'postgres://user:***@a:5432,[::1]:5433/shop?target_session_attrs=read-write',
    ],
    [
      'redis+sentinel://:secret@a:1,b:2/limits?sentinel_password=secret',
      'redis+sentinel://:***@a:1,b:2/limits',
    ],
    ['redis://user:secret@cache:6380/0', 'redis://user:***@cache:6380/0'],
  ];
  for (const [url, shown] of cases) {
    it(`is ${shown} for ${url}`, () => assert.equal(withoutPassword(url), shown));
  }
});
