import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../contract/errors.ts';
import { DatabaseUnavailable, type Queries } from '../db/database.ts';
import { kept } from '../kit/kept.ts';
import type { Health } from '../portal/health.ts';
import type { Portal } from '../portal/portal.ts';
import { ASSETS_URL, PORTAL_URL } from '../portal/urls.ts';
import type { Problems } from '../problems.ts';
import type { ServedPath } from './add-path.ts';
import type { Drain } from './drain.ts';
import { nothingAt } from './no-route.ts';
import type { ContractDocument } from './openapi/document.ts';
import { assetHeaders, pageAt, pageHeaders } from './page.ts';
import { sendWhole } from './send.ts';
import { sendContent } from './send-content.ts';
import { currentProblems } from './service-routes.ts';
import { pathOf, withoutTrailingSlashes } from './targets.ts';

interface PortalOptions {
  contract: ContractDocument;
  isDemo: boolean;
  db: Pick<Queries, 'get'>;
  problems: Problems;
  drain: Pick<Drain, 'hasBegun'>;
}

/** The pages of the portal. The first request for one loads the portal's code: most processes never need it. */
export function portalPages(options: PortalOptions): ServedPath[] {
  const { contract, isDemo } = options;
  const portal = kept((request: FastifyRequest) =>
    loadPortal(contract, { port: request.socket.localPort, isDemo }),
  );
  const page = async (request: FastifyRequest, reply: FastifyReply) => {
    const path = pathOf(request.url);
    const format = prefersMarkdown(request.headers) ? 'markdown' : 'html';
    const content = await (await portal(request)).page(path, format, () => healthOf(options));
    if (!content) return sendNotFound(request, reply, await portal(request));
    return sendContent(request, reply, content, pageHeaders, vary);
  };
  const asset = async (request: FastifyRequest, reply: FastifyReply) => {
    const content = (await portal(request)).asset(pathOf(request.url));
    if (!content) throw nothingAt(request.url);
    return sendContent(request, reply, content, assetHeaders);
  };
  return [
    pageAt('/', redirectToPortal),
    ...pagePaths.map(path => pageAt(path, page)),
    pageAt(`${ASSETS_URL}/{file}`, asset),
  ];
}

const vary = 'accept, accept-encoding';

/** Redirects to the page without the slashes at the end. If there is none, browsers get a page and other clients an error. */
async function sendNotFound(request: FastifyRequest, reply: FastifyReply, portal: Portal): Promise<void> {
  const path = pathOf(request.url);
  const location = withoutTrailingSlashes(path);
  if (location !== path && portal.has(location))
    return sendWhole(request, reply, 302, { 'cache-control': 'no-cache', location }, '');
  if (!/\btext\/html\b/i.test(request.headers.accept ?? '')) throw nothingAt(request.url);
  const content = portal.notFound();
  const headers = { ...pageHeaders, vary, 'content-type': content.type };
  return sendWhole(request, reply, 404, headers, await content.encoded('identity'));
}

/** The state of the service for people. What makes `/readyz` return 503 is a state as well. */
async function healthOf({ db, problems, drain }: PortalOptions): Promise<Health> {
  try {
    const current = await currentProblems(db, { problems, drain });
    return {
      status: current.length === 0 ? 'ok' : 'degraded',
      problems: current.map(({ message }) => message),
    };
  } catch (error) {
    if (
      error instanceof DatabaseUnavailable ||
      (error instanceof ApiError && error.code === 'service_unavailable')
    )
      return { status: 'unavailable', problems: [error.message] };
    throw error;
  }
}

const pagePaths = [PORTAL_URL, `${PORTAL_URL}.md`, `${PORTAL_URL}/*`, '/llms.txt', '/llms-full.txt'];

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

async function redirectToPortal(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  return sendWhole(request, reply, 302, { 'cache-control': 'no-cache', location: PORTAL_URL }, '');
}
