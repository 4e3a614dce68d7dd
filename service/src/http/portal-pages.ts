import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Portal } from '../portal/portal.ts';
import { ASSETS_URL, PORTAL_URL } from '../portal/urls.ts';
import { nothingAt } from './no-route.ts';
import type { ContractDocument } from './openapi/document.ts';
import { assetHeaders, type Page, pageHeaders } from './page.ts';
import { sendWhole } from './send.ts';
import { sendContent } from './send-content.ts';
import { pathOf } from './targets.ts';

/** The pages of the portal. The first request for one loads the portal's code: most processes never need it. */
export function portalPages(contract: ContractDocument, isDemo: boolean): Page[] {
  let loading: Promise<Portal> | undefined;
  const portal = (request: FastifyRequest) => {
    loading ??= loadPortal(contract, { port: request.socket.localPort, isDemo });
    return loading;
  };
  const page = async (request: FastifyRequest, reply: FastifyReply) => {
    const path = pathOf(request.url);
    const format = prefersMarkdown(request.headers) ? 'markdown' : 'html';
    const content = await (await portal(request)).page(path, format);
    if (!content) throw nothingAt(request.url);
    return sendContent(request, reply, content, pageHeaders, 'accept, accept-encoding');
  };
  const asset = async (request: FastifyRequest, reply: FastifyReply) => {
    const { file } = request.params as { file: string };
    const content = await (await portal(request)).asset(file);
    if (!content) throw nothingAt(request.url);
    return sendContent(request, reply, content, assetHeaders);
  };
  return [
    redirect('/'),
    redirect(`${PORTAL_URL}/`),
    ...pagePaths.map(path => ({ path, handler: page })),
    { path: `${ASSETS_URL}/{file}`, handler: asset },
  ];
}

const pagePaths = [
  PORTAL_URL,
  `${PORTAL_URL}.md`,
  `${PORTAL_URL}/{page}`,
  `${PORTAL_URL}/{section}/{page}`,
  '/llms.txt',
  '/llms-full.txt',
];

/** Whether a client asks for Markdown and not for HTML. Browsers ask for HTML. */
function prefersMarkdown({ accept = '' }: IncomingHttpHeaders): boolean {
  return /\btext\/markdown\b/i.test(accept) && !/\btext\/html\b/i.test(accept);
}

async function loadPortal(
  contract: ContractDocument,
  site: { port: number | undefined; isDemo: boolean },
): Promise<Portal> {
  const json = await contract.json();
  const { openPortal } = await import('../portal/open-portal.ts');
  return openPortal(JSON.parse(json), site);
}

/** Redirects to the start page. */
function redirect(path: string): Page {
  return {
    path,
    handler: async (request, reply) =>
      sendWhole(request, reply, 302, { 'cache-control': 'no-cache', location: PORTAL_URL }, ''),
  };
}
