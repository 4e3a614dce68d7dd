import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { type ConsoleFiles, readConsole } from '../console/console-files.ts';
import { ApiError } from '../contract/errors.ts';
import { nothingAt } from './no-route.ts';
import { assetHeaders, type Page, pageHeaders } from './page.ts';
import { sendWhole } from './send.ts';
import { sendContent } from './send-content.ts';

const CONSOLE_URL = '/console';

/** Signs a browser in. Returns the secret of an API key, or `undefined` if the ticket is not valid. */
export type RedeemTicket = (ticket: string) => Promise<string | undefined>;

/** The page of the console at every path below `/console`, its files, and the exchange of the ticket of a link that signs in. */
export function consolePages(redeem: RedeemTicket): Page[] {
  let reading: Promise<ConsoleFiles> | undefined;
  const files = () => {
    reading ??= readConsole().catch(error => {
      // It may be built later.
      reading = undefined;
      throw error;
    });
    return reading;
  };
  const page = (path: string): Page => ({
    path,
    handler: async (request, reply) => sendContent(request, reply, (await files()).page, pageHeaders),
  });
  return [
    page(CONSOLE_URL),
    page(`${CONSOLE_URL}/*`),
    {
      path: `${CONSOLE_URL}/assets/{file}`,
      handler: async (request, reply) => {
        const { file } = request.params as { file: string };
        const content = (await files()).assets.get(file);
        if (!content) throw nothingAt(request.url);
        return sendContent(request, reply, content, assetHeaders);
      },
    },
    {
      path: `${CONSOLE_URL}/sign-in`,
      method: 'POST',
      handler: async (request, reply) => {
        const key = comesFromHere(request) ? await redeem(ticketOf(request.body)) : undefined;
        if (key === undefined) throw invalidTicket();
        const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
        sendWhole(request, reply, 200, headers, JSON.stringify({ key }));
      },
    },
  ];
}

function ticketOf(body: unknown): string {
  return typeof body === 'object' && body !== null && 'ticket' in body ? String(body.ticket) : '';
}

function invalidTicket(): ApiError {
  return new ApiError(
    'invalid_api_key',
    'The link was used before, has expired, or was opened on another machine: sign in with an API key, or print a new link with the command sign-in-link',
    { 'www-authenticate': 'Bearer' },
  );
}

/**
 * Whether a page of the service itself, in a browser on this machine, sent the request. A proxy on this machine may pass on requests
 * of others, and the name of a foreign page's host may lead here.
 */
function comesFromHere({ socket, headers }: FastifyRequest): boolean {
  const isForwarded = 'x-forwarded-for' in headers || 'forwarded' in headers || 'via' in headers;
  const { hostname } = new URL(`http://${headers.host}`);
  const isSameOrigin = headers.origin === undefined || headers.origin === `http://${headers.host}`;
  return !isForwarded && isSameOrigin && isLoopback(hostname) && isLoopback(socket.remoteAddress ?? '');
}

/** Whether a host is this machine: `localhost`, 127.0.0.0/8 or ::1, also in the form of an IPv4-mapped address. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1').replace(/^::ffff:/, '');
  return address === 'localhost' || address === '::1' || (isIP(address) === 4 && address.startsWith('127.'));
}
