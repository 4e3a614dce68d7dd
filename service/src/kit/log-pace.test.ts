import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HOUR, SECOND } from './clock.ts';
import { LogPace } from './log-pace.ts';

function paced() {
  const clock = { time: 0, now: () => clock.time };
  let written = 0;
  const pace = new LogPace(clock, () => {
    written++;
  });
  return { clock, pace, written: () => written };
}

describe('a paced log line', () => {
  it('is written at once, and then at most once a second', () => {
    const { clock, pace, written } = paced();
    for (let i = 0; i < 100; i++) pace.request();
    assert.equal(written(), 1);
    clock.time += SECOND - 1;
    pace.tick();
    assert.equal(written(), 1);
    clock.time += 1;
    pace.tick();
    assert.equal(written(), 2);
    clock.time += SECOND;
    pace.tick();
    assert.equal(written(), 2);
    pace.request();
    assert.equal(written(), 3);
  });

  it('is written at the end if it is pending', () => {
    const { pace, written } = paced();
    pace.request();
    pace.request();
    pace.flush();
    pace.flush();
    assert.equal(written(), 2);
  });

  it('is still written after the clock is set back', () => {
    const { clock, pace, written } = paced();
    pace.request();
    clock.time -= HOUR;
    pace.request();
    assert.equal(written(), 2);
  });
});
