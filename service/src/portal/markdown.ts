import { Marked, type Tokens } from 'marked';
import { highlighted } from '../../../web/portal/highlight.js';
import { Html, html } from '../kit/html.ts';
import { slugOf } from './urls.ts';

const marked = new Marked({
  renderer: {
    code: ({ text, lang = '' }: Tokens.Code) => codeBlock(text, lang).text,
    heading({ tokens, depth, text }: Tokens.Heading) {
      const id = slugOf(text);
      const title = this.parser.parseInline(tokens);
      if (depth === 1) return `<h1>${title}</h1>\n`;
      return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${title}</a></h${depth}>\n`;
    },
    table({ header, rows }: Tokens.Table) {
      const cells = (row: Tokens.TableCell[]) =>
        row.map(({ tokens }) => new Html(this.parser.parseInline(tokens)));
      const label = header.map(({ text }) => text).join(', ');
      return scrollingTable(cells(header), rows.map(cells), label).text;
    },
    // The documents contain no HTML.
    html: ({ text }: Tokens.HTML | Tokens.Tag) => html`${text}`.text,
  },
});

/** The HTML of a document of the project. Headings from the second level have anchors. */
export function rendered(markdown: string): Html {
  return new Html(marked.parse(markdown, { async: false }));
}

/** The HTML of a line. */
export function renderedLine(markdown: string): Html {
  return new Html(marked.parseInline(markdown, { async: false }));
}

/** Code with a button that copies it. */
export function codeBlock(code: string, language: string): Html {
  return html`<div class="code"><pre tabindex="0"><code>${new Html(highlighted(code, language))}</code></pre><button class="copy needs-script" type="button">Copy</button></div>`;
}

/** A table, which scrolls in its own region if it is wide. The keyboard can focus the region. */
function scrollingTable(columns: Html[], rows: Html[][], label: string): Html {
  return html`<div class="table" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${columns.map(column => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>
${rows.map(row => html`<tr${anchorOf(row[0])}>${row.map(cell => html`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table></div>`;
}

/** The ID of a row that begins with code, such as an error code: links can lead to it. */
function anchorOf(cell: Html | undefined): Html | undefined {
  const [, name] = /^<code>([a-z][\w.]*)<\/code>$/.exec(cell?.text ?? '') ?? [];
  return name === undefined ? undefined : html` id="${name}"`;
}
