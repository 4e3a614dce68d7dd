import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BUILD_COMMAND } from '../console/console-files.ts';
import { Html, html } from '../kit/html.ts';
import { pageHeaders } from './page.ts';
import { sendWhole } from './send.ts';

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 40rem; margin: 15vh auto; padding: 0 1rem }
pre { padding: 0.75rem 1rem; overflow-x: auto; border: 1px solid; border-radius: 0.5rem }
`;

const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>The console is not built</title>
<link rel="icon" href="data:,">
<style>${new Html(style)}</style>
</head>
<body>
<h1>The console is not built</h1>
<p>Run this command in the directory of the service, and then load this page again:</p>
<pre><code>${BUILD_COMMAND}</code></pre>
<p>The service itself works without the console: <a href="/docs">its documentation</a> describes the API.</p>
</body>
</html>
`.text;

/** Sends a page for people that names the command which builds the console. Its own style is the only inline one. */
export function sendConsoleNotBuilt(request: FastifyRequest, reply: FastifyReply): void {
  const policy = pageHeaders['content-security-policy'];
  const headers = {
    ...pageHeaders,
    'content-security-policy': policy.replace(
      "style-src 'self'",
      `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
    ),
    'cache-control': 'no-store',
    'content-type': 'text/html; charset=utf-8',
  };
  sendWhole(request, reply, 503, headers, page);
}
