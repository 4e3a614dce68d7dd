import { createHmac, randomBytes } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { Event } from '@petstore/client';

/** How long an endpoint may take to respond, in milliseconds: as long as with the service. */
export const RESPONSE_TIMEOUT = 15_000;

/** The pauses between the attempts to deliver an event, in milliseconds: the first, and the longest. */
const PAUSES = [250, 10_000] as const;

const PREFIX = 'whsec_';

export const newSecret = (): string => PREFIX + randomBytes(32).toString('base64');

/** How long to wait after so many attempts to deliver an event, in milliseconds. */
export function pauseAfter(attempts: number): number {
  const [first, longest] = PAUSES;
  return Math.min(longest, first * 2 ** (attempts - 1));
}

/** The ID of the message of an event. No webhook of the service has the ID 0. */
export const messageIdOf = ({ id }: Event): string => `msg_0_${id}`;

/**
 * Sends an event to a URL once, as the service sends it to a webhook (Standard Webhooks 1.0.0). Returns the status of the
 * response. Throws if no complete response arrives in time.
 */
export function sendEvent(url: URL, event: Event, secret: string): Promise<number> {
  const body = JSON.stringify(event);
  const { request } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      headers: headersOf(event, body, secret),
      // A connection that the endpoint has closed meanwhile would be a failure.
      agent: false,
    });
    const late = new Error(`no complete response within ${RESPONSE_TIMEOUT / 1000} seconds`);
    const timer = setTimeout(() => sent.destroy(late), RESPONSE_TIMEOUT);
    sent.on('error', reject);
    sent.on('close', () => clearTimeout(timer));
    sent.on('response', response => {
      response.on('error', reject);
      response.on('end', () => resolve(response.statusCode!));
      response.resume();
    });
    sent.end(body);
  });
}

function headersOf(event: Event, body: string, secret: string): Record<string, string | number> {
  const id = messageIdOf(event);
  const timestamp = Math.floor(Date.now() / 1000);
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'content-type': 'application/cloudevents+json',
    'content-length': Buffer.byteLength(body),
    'user-agent': 'petstore-webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
    ...(event.traceparent !== undefined && { traceparent: event.traceparent }),
  };
}
