import assert from 'node:assert/strict';
import { it } from 'node:test';
import { newToasts } from './toasts.ts';

it('a message that stays is shown until it is closed', t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { show, shown, close } = newToasts();
  const id = show({ text: 'The new secret was not shown', stays: true });
  t.mock.timers.tick(10_000);
  assert.equal(shown().length, 1);
  close(id);
  assert.deepEqual(shown(), []);
});

it('the last 20 actions can be undone, also after their messages have closed', t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { show, shown, undos } = newToasts();
  for (let i = 1; i <= 21; i++) show({ text: `Deleted pet ${i}`, undo: async () => {} });
  t.mock.timers.tick(10_000);
  assert.deepEqual(shown(), []);
  const texts = undos().map(({ text }) => text);
  assert.deepEqual([texts.length, texts.at(0), texts.at(-1)], [20, 'Deleted pet 21', 'Deleted pet 2']);
});

it('steps after a withdrawal of undo have a message of their own, which does not undo the earlier ones', t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { showSteps, withdrawUndos, shown } = newToasts();
  const add = () => showSteps('stock of Rex', 1, sum => ({ text: `${sum} added`, undo: async () => {} }));
  add();
  add();
  withdrawUndos();
  add();
  assert.deepEqual(
    shown().map(({ text, undo }) => [text, undo !== undefined]),
    [
      ['2 added', false],
      ['1 added', true],
    ],
  );
});
