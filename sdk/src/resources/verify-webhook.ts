import type { Event } from '../contract.ts';
import { PetStoreError } from '../errors.ts';

/** A delivery to a webhook does not come from the service, or is too old. */
export class WebhookVerificationError extends PetStoreError {}

export interface VerificationOptions {
  /** How far the time of a delivery may be from that of this machine, in seconds; 300 unless set. */
  tolerance?: number;
}

type HeaderValues = Iterable<[name: string, value: string]> | Record<string, string | string[] | undefined>;

/**
 * Returns the event of a delivery to a webhook, if the service signed it with the secret (Standard Webhooks 1.0.0). `body` is
 * the body as it was received, and not an object made from it. Throws `WebhookVerificationError`, whose message says what is wrong.
 */
export async function verifyWebhook(
  headers: HeaderValues,
  body: string | Uint8Array | ArrayBuffer,
  secret: string | undefined,
  { tolerance = 300 }: VerificationOptions = {},
): Promise<Event> {
  // A parsed body cannot be turned into the bytes that were signed. Bytes of another realm, as in tests by Jest, are no `Uint8Array` here.
  if (typeof body !== 'string' && !ArrayBuffer.isView(body) && !(body instanceof ArrayBuffer))
    reject('The body is parsed: pass the raw body, which express.raw() or await request.text() returns');
  if (Object(headers) !== headers)
    reject('The headers are missing: pass those of the request, and then the body');
  // Frameworks write the names of headers in several ways.
  const received = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(wanted =>
    String(
      received.find(([name]) => name.toLowerCase() === wanted)?.[1] ??
        reject(`The header ${wanted} is missing`),
    ),
  ) as [string, string, string];
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  // A text that is not a number makes it NaN.
  if (!(age <= tolerance))
    reject(`The header webhook-timestamp is not within ${tolerance} s of the time of this machine`);

  if (!secret) reject('The secret of the webhook is missing');
  const { subtle } = crypto;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const bytes = decodeBase64(secret.replace(/^whsec_/, ''));
  if (!bytes) reject('The secret of the webhook is not whsec_ and base64');
  const key = await subtle.importKey('raw', bytes, algorithm, false, ['verify']);
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const content = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  for (const signature of signatures.split(' ')) {
    const given = signature.startsWith('v1,') && decodeBase64(signature.slice(3));
    // `verify` compares in constant time.
    if (given && (await subtle.verify(algorithm, key, given, content))) return JSON.parse(text);
  }
  return reject('No signature in the header webhook-signature fits the body and the secret of the webhook');
}

function reject(message: string): never {
  throw new WebhookVerificationError(message);
}

/** Returns the bytes of a text; `undefined` if it is not base64. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const [, digits] = /^([A-Za-z0-9+/]+)=*$/.exec(text) ?? [];
  // `atob` throws for a length that no bytes have.
  if (!digits || digits.length % 4 === 1) return undefined;
  return Uint8Array.from(atob(digits), character => character.charCodeAt(0));
}
