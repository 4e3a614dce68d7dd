import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Head } from './head.ts';

test('a head has a line for each header, in the order in which they were added', () => {
  const head = new Head();
  head.add('vary', 'origin');
  head.addLines('api-version: 1.0.0\r\n');
  head.add('location', '/pets/1');
  assert.equal(head.lines, 'vary: origin\r\napi-version: 1.0.0\r\nlocation: /pets/1\r\n');
});

test('a value with a line break or another control character is rejected, and adds nothing', () => {
  for (const value of ['a\r\nset-cookie: b', 'a\nb', 'a\rb', 'a\0b', 'a\x7fb', 'a\u0100b']) {
    const head = new Head();
    assert.throws(() => head.add('location', value), TypeError);
    assert.equal(head.lines, '');
  }
});

test('a value may have tabs and all printable characters of Latin-1', () => {
  const head = new Head();
  head.add('x', 'a\tb ~\x80\xff');
  assert.equal(head.lines, 'x: a\tb ~\x80\xff\r\n');
});

test('a head has a header only by its whole name', () => {
  const head = new Head();
  head.add('x-ratelimit-limit', 'ratelimit: 1');
  assert.ok(head.has('x-ratelimit-limit'));
  assert.ok(!head.has('ratelimit'));
  assert.ok(!head.has('x-ratelimit'));
  assert.ok(!head.has('ratelimit-limit'));
});

test('a copy and its original do not change each other', () => {
  const head = new Head();
  head.add('vary', 'origin');
  const copy = head.copy();
  head.add('a', '1');
  copy.add('b', '2');
  assert.equal(head.lines, 'vary: origin\r\na: 1\r\n');
  assert.equal(copy.lines, 'vary: origin\r\nb: 2\r\n');
});
