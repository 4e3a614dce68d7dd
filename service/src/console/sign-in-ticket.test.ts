import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SignInTicket } from './sign-in-ticket.ts';

const MINUTE = 60_000;

describe('a ticket to sign in', () => {
  it('is valid once', () => {
    const ticket = new SignInTicket();
    const text = ticket.issue(0);
    assert.match(text, /^[0-9A-Za-z]{32}$/);
    assert.deepEqual([ticket.redeem(text, 1), ticket.redeem(text, 2)], [true, false]);
  });

  it('is valid for less than 15 minutes', () => {
    const ticket = new SignInTicket();
    const text = ticket.issue(0);
    assert.equal(ticket.redeem(text, 15 * MINUTE), false);
    assert.equal(ticket.redeem(text, 15 * MINUTE - 1), true);
  });

  it('survives wrong texts, and is not valid before it is issued', () => {
    const ticket = new SignInTicket();
    assert.equal(ticket.redeem('', 0), false);
    const text = ticket.issue(0);
    assert.equal(ticket.redeem(`${text}0`, 1), false);
    assert.equal(ticket.redeem(text, 1), true);
  });
});
