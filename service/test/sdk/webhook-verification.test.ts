import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runInNewContext } from 'node:vm';
import { newSecret, signatures } from '../../src/events/webhooks/signature.ts';
import { importVerification } from '../support/packed-client.ts';

const { verifyWebhook, WebhookVerificationError } = await importVerification();

const body = JSON.stringify({ id: '7', type: 'pet.created', data: { name: 'Zoë' } });
const secret = newSecret();

/** The headers of a delivery that the service sends now, or some seconds earlier. */
function headersOf({ secrets = [secret], age = 0 } = {}): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1000) - age;
  return {
    'webhook-id': 'evt_7',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures(secrets, { id: 'evt_7', timestamp, body }),
  };
}

const isRejected = (headers: Record<string, string>, text = body, key = secret) =>
  assert.rejects(verifyWebhook(headers, text, key), WebhookVerificationError);

describe('verifyWebhook', () => {
  it('returns the event of a delivery that the service signed', async () => {
    const event = await verifyWebhook(headersOf(), body, secret);
    assert.deepEqual(event, JSON.parse(body));
    const bytes = new TextEncoder().encode(body);
    const ofOtherRealm: Uint8Array = runInNewContext('Uint8Array.from(bytes)', { bytes: [...bytes] });
    assert.ok(!(ofOtherRealm instanceof Uint8Array));
    for (const raw of [Buffer.from(body), bytes.buffer, ofOtherRealm])
      assert.deepEqual(await verifyWebhook(new Headers(headersOf()), raw, secret), event);
  });

  it('accepts each of the signatures of a rotation', async () => {
    const headers = headersOf({ secrets: [newSecret(), secret] });
    assert.deepEqual(await verifyWebhook(headers, body, secret), JSON.parse(body));
  });

  it('rejects another body, ID, time, secret or version of the signature', async () => {
    const headers = headersOf();
    await isRejected(headers, body.replace('pet', 'cat'));
    await isRejected(headers, body, newSecret());
    await isRejected({ ...headers, 'webhook-id': 'evt_8' });
    await isRejected({ ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) });
    await isRejected({
      ...headers,
      'webhook-signature': headers['webhook-signature']!.replace('v1,', 'v2,'),
    });
    await isRejected({ ...headers, 'webhook-signature': headers['webhook-signature']!.slice(0, -4) });
    await isRejected({});
  });

  it('rejects a signature or a secret that is not base64, as any other one', async () => {
    const headers = headersOf();
    for (const text of ['', '*', 'A', 'AAAAA', 'A A']) {
      await isRejected({ ...headers, 'webhook-signature': `v1,${text}` });
      await isRejected(headers, body, `whsec_${text}`);
    }
    const both = { ...headers, 'webhook-signature': `v1,A ${headers['webhook-signature']}` };
    assert.deepEqual(await verifyWebhook(both, body, secret), JSON.parse(body));
  });

  it('accepts the names of headers as frameworks write them', async () => {
    const [id, timestamp, signature] = Object.values(headersOf()) as [string, string, string];
    for (const headers of [
      { 'Webhook-Id': id, 'Webhook-Timestamp': timestamp, 'WEBHOOK-SIGNATURE': [signature], ':path': '/' },
      new Map([
        ['Webhook-Id', id],
        ['webhook-timestamp', timestamp],
        ['Webhook-Signature', signature],
      ]),
    ])
      assert.deepEqual(await verifyWebhook(headers, body, secret), JSON.parse(body));
  });

  it('explains a parsed body, missing headers, a missing header and a missing secret', async () => {
    const headers = headersOf();
    const message = (text: string) => ({ name: 'PetStoreError', message: text });
    for (const parsed of [JSON.parse(body), undefined, [1]])
      await assert.rejects(
        verifyWebhook(headers, parsed, secret),
        message('The body is parsed: pass the raw body, which express.raw() or await request.text() returns'),
      );
    for (const wrong of [undefined, body])
      await assert.rejects(
        verifyWebhook(wrong as never, body, secret),
        message('The headers are missing: pass those of the request, and then the body'),
      );
    for (const name of Object.keys(headers))
      await assert.rejects(
        verifyWebhook({ ...headers, [name]: undefined }, body, secret),
        message(`The header ${name} is missing`),
      );
    for (const missing of [undefined, ''])
      await assert.rejects(
        verifyWebhook(headers, body, missing),
        message('The secret of the webhook is missing'),
      );
    for (const wrong of ['whsec_', 'my secret'])
      await assert.rejects(
        verifyWebhook(headers, body, wrong),
        message('The secret of the webhook is not whsec_ and base64'),
      );
  });

  it('rejects an old delivery, which may be a stolen one, and one of the future', async t => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-21T12:00:00Z') });
    await isRejected(headersOf({ age: 301 }));
    await isRejected(headersOf({ age: -301 }));
    assert.ok(await verifyWebhook(headersOf({ age: 300 }), body, secret));
    assert.ok(await verifyWebhook(headersOf({ age: 301 }), body, secret, { tolerance: 600 }));
    await isRejected({ ...headersOf(), 'webhook-timestamp': 'now' });
    // Signed, but not a time.
    await isRejected(headersOf({ age: Number.NaN }));
  });
});
