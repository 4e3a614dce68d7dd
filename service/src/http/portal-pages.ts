import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PageName, Portal } from '../portal/portal.ts';
import { ASSETS_URL, GUIDE_URL, REFERENCE_URL } from '../portal/urls.ts';
import { nothingAt } from './no-route.ts';
import type { ContractDocument } from './openapi/document.ts';
import { assetHeaders, type Page, pageHeaders } from './page.ts';
import { sendWhole } from './send.ts';
import { sendContent } from './send-content.ts';

/** The pages of the portal. The first request for one loads the portal's code: most processes never need it. */
export function portalPages(contract: ContractDocument): Page[] {
  let loading: Promise<Portal> | undefined;
  const portal = () => {
    loading ??= loadPortal(contract);
    return loading;
  };
  const page = (path: string, name: PageName): Page => ({
    path,
    handler: async (request, reply) =>
      sendContent(request, reply, await (await portal()).page(name), pageHeaders),
  });
  return [
    redirect('/'),
    redirect(`${REFERENCE_URL}/`),
    page(REFERENCE_URL, 'reference'),
    page(GUIDE_URL, 'guide'),
    {
      path: `${ASSETS_URL}/{file}`,
      handler: async (request, reply) => {
        const { file } = request.params as { file: string };
        const content = await (await portal()).asset(file);
        if (!content) throw nothingAt(request.url);
        return sendContent(request, reply, content, assetHeaders);
      },
    },
  ];
}

/** Loads one module per turn of the event loop: together they would block it for 40 ms. */
async function loadPortal(contract: ContractDocument): Promise<Portal> {
  const json = await contract.json();
  const modules = [
    () => import('../portal/assets.ts'),
    () => import('../portal/shell.ts'),
    () => import('../portal/reference.ts'),
    () => import('../portal/guide.ts'),
  ];
  for (const load of modules) {
    await load();
    await nextTurn();
  }
  const { Portal } = await import('../portal/portal.ts');
  return new Portal(JSON.parse(json));
}

/** Redirects to the reference. */
function redirect(path: string): Page {
  return {
    path,
    handler: async (request, reply) =>
      sendWhole(request, reply, 302, { 'cache-control': 'no-cache', location: REFERENCE_URL }, ''),
  };
}
