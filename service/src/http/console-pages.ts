import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ConsoleFiles, readConsole } from '../console/console-files.ts';
import { ApiError } from '../contract/errors.ts';
import type { Static } from '../contract/static.ts';
import { isLoopback } from '../kit/client-address.ts';
import type { ServedPath } from './add-path.ts';
import { sendConsoleNotBuilt } from './console-not-built.ts';
import { hostnameOf } from './host.ts';
import { nothingAt } from './no-route.ts';
import { assetHeaders, pageAt, pageHeaders } from './page.ts';
import { sendWhole } from './send.ts';
import { sendContent } from './send-content.ts';
import { bodyReader } from './validate.ts';

const CONSOLE_URL = '/console';

/** Signs a browser in. Returns the secret of an API key, or `undefined` if the ticket is not valid. */
export type RedeemTicket = (ticket: string) => Promise<string | undefined>;

const SignIn = {
  type: 'object',
  required: ['ticket'],
  additionalProperties: false,
  properties: { ticket: { type: 'string', maxLength: 200 } },
} as const;

/** The page of the console at every path below `/console`, its files, and the exchange of the ticket of a link that signs in. */
export function consolePages(redeem: RedeemTicket): ServedPath[] {
  let files: ConsoleFiles | undefined;
  const readFiles = async () => {
    // While it is not built, each request looks for it: it may be built later.
    files ??= await readConsole();
    return files;
  };
  const page = async (request: FastifyRequest, reply: FastifyReply) => {
    const content = (await readFiles())?.page;
    if (!content) return sendConsoleNotBuilt(request, reply);
    return sendContent(request, reply, content, pageHeaders);
  };
  const asset = async (request: FastifyRequest, reply: FastifyReply) => {
    const { file } = request.params as { file: string };
    const content = (await readFiles())?.assets.get(file);
    if (!content) throw nothingAt(request.url);
    return sendContent(request, reply, content, assetHeaders);
  };
  const readBody = bodyReader(SignIn);
  const signIn = async (request: FastifyRequest, reply: FastifyReply) => {
    const { ticket } = readBody(request.body, request.bodyText) as Static<typeof SignIn>;
    const key = comesFromHere(request) ? await redeem(ticket) : undefined;
    if (key === undefined) throw invalidTicket();
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    sendWhole(request, reply, 200, headers, JSON.stringify({ key }));
  };
  return [
    pageAt(CONSOLE_URL, page),
    pageAt(`${CONSOLE_URL}/*`, page),
    pageAt(`${CONSOLE_URL}/assets/{file}`, asset),
    {
      method: 'POST',
      gated: { path: `${CONSOLE_URL}/sign-in`, scope: null, countedBy: 'address', isPage: true },
      handler: signIn,
    },
  ];
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
  const { host = '', origin } = headers;
  const isSameOrigin = origin === undefined || origin === `http://${host}`;
  const isHere = isLoopback(hostnameOf(host) ?? '') && isLoopback(socket.remoteAddress ?? '');
  return !isForwarded && isSameOrigin && isHere;
}
