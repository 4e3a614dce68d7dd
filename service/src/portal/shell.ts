import { type Html, html } from '../kit/html.ts';
import { GUIDE_URL, REFERENCE_URL } from './urls.ts';

export interface Shell {
  title: string;
  version: string;
  current: typeof REFERENCE_URL | typeof GUIDE_URL;
  /** URLs of the files of both pages. */
  stylesheet: string;
  themeScript: string;
  /** Further elements of the head. */
  head?: Html;
  /** Further elements of the header: the field for the key. */
  tools?: Html;
  content: Html;
}

/** The frame of every page: head, skip link, header. The theme's script runs before the first paint. */
export function shell({
  title,
  version,
  current,
  stylesheet,
  themeScript,
  head,
  tools,
  content,
}: Shell): Html {
  const link = (url: string, text: string) =>
    html`<a href="${url}"${url === current && html` aria-current="page"`}>${text}</a>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${current === GUIDE_URL ? 'Guide' : 'Reference'} · ${title}</title>
<link rel="icon" href="data:,">
<script src="${themeScript}"></script>
<link rel="stylesheet" href="${stylesheet}">
${head}
</head>
<body>
<a class="skip-link" href="#content">Skip to the content</a>
<header class="top">
<p class="brand"><a href="${REFERENCE_URL}">${title}</a> <span class="version">${version}</span></p>
<nav class="pages" aria-label="Pages">${link(REFERENCE_URL, 'Reference')}${link(GUIDE_URL, 'Guide')}<a href="/openapi.yaml">openapi.yaml</a></nav>
<div class="tools">${tools}<button id="theme" type="button">Theme</button></div>
</header>
${content}
</body>
</html>
`;
}
