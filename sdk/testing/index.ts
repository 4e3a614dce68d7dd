import type { ApiKey, Event } from '../src/contract.ts';
import { serve } from './service.ts';

export interface TestServiceOptions {
  /** The plan of the API key; `enterprise` unless set. */
  plan?: ApiKey['plan'];
  /** The limits of a key with the plan `enterprise`; as good as none unless set. */
  quotas?: { perMinute: number; perDay: number };
  /** The scopes of the API key; `admin` unless set. */
  scopes?: ApiKey['scopes'];
}

/** A service in memory. It has the options that a client needs: `new PetStore(testService())`. */
export interface TestService {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Responds as the service would. Other responses than its own need no service: pass a `fetch` of your test. */
  readonly fetch: (url: string | URL | Request, init?: RequestInit) => Promise<Response>;
}

/**
 * Creates a service for tests: pets, categories, orders, stock, batches, events and the account of one API key, with the limits, bans,
 * conditions, repeated requests and errors of the contract. Its time is `Date.now()`. Other operations are 404.
 */
export function testService({
  plan = 'enterprise',
  quotas = { perMinute: 1_000_000, perDay: 1_000_000_000 },
  scopes = ['admin'],
}: TestServiceOptions = {}): TestService {
  const apiKey = 'psk_ofATestServiceAndOfNoOtherServic000000';
  return { baseUrl: 'http://petstore.test', apiKey, fetch: serve({ secret: apiKey, plan, quotas, scopes }) };
}

export interface SigningOptions {
  /** The `webhook-id`, the same for each attempt; random unless set. */
  id?: string;
  /** When the delivery is sent; now unless set. */
  timestamp?: Date;
}

/** A delivery to a webhook, as the service sends it with POST. */
export interface SignedDelivery {
  headers: Record<'content-type' | 'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>;
  body: string;
}

/** Signs an event as the service does, with the secret of a webhook (`whsec_…`), so that `verifyWebhook` accepts it. */
export async function signWebhook(
  event: Event | object,
  secret: string | undefined,
  { id = `msg_${Math.random().toString(36).slice(2)}`, timestamp = new Date() }: SigningOptions = {},
): Promise<SignedDelivery> {
  const body = JSON.stringify(event);
  const seconds = String(Math.floor(timestamp.getTime() / 1000));
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  if (!secret) throw new Error('The secret of the webhook is missing');
  const bytes = Uint8Array.from(atob(secret.replace(/^whsec_/, '')), character => character.charCodeAt(0));
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign']);
  const signed = await crypto.subtle.sign(
    algorithm,
    key,
    new TextEncoder().encode(`${id}.${seconds}.${body}`),
  );
  const signature = btoa(String.fromCharCode(...new Uint8Array(signed)));
  return {
    headers: {
      'content-type': 'application/cloudevents+json',
      'webhook-id': id,
      'webhook-timestamp': seconds,
      'webhook-signature': `v1,${signature}`,
    },
    body,
  };
}
