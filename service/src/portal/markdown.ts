import { Marked, type Token, type Tokens } from 'marked';
import { highlighted } from '../../../web/portal/highlight.js';
import { languages } from '../../../web/portal/samples.js';
import { Html, html } from '../kit/html.ts';
import { slugOf } from './urls.ts';

const marked = new Marked({
  renderer: {
    code: ({ text, lang = '' }: Tokens.Code) => codeBlock(text, lang).text,
    codespan: ({ text }: Tokens.Codespan) => html`<code>${breakable(text)}</code>`.text,
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
      const named = rows.map(row => ({ name: nameIn(row[0]), cells: cells(row) }));
      return scrollingTable(cells(header), named, label).text;
    },
    // The documents contain no HTML.
    html: ({ text }: Tokens.HTML | Tokens.Tag) => html`${text}`.text,
  },
});

/** The longest word of code that stays in one line on a phone. */
const LONGEST_WORD = 32;

/** Code that can break after a space. A long word, such as a URL, breaks after a separator, or anywhere in a line that is too short for it. */
function breakable(text: string): Html {
  const words = text
    .split(/(?<= )/)
    .map(word =>
      word.length > LONGEST_WORD
        ? html`<span class="long-word">${joined(word.split(/(?<=[^/:])(?=[/?&])|(?<=,)/))}</span>`
        : word,
    );
  return joined(words);
}

function joined(parts: readonly (string | Html)[]): Html {
  return html`${parts.map((part, i) => html`${i > 0 && html`<wbr>`}${part}`)}`;
}

/** The HTML of a document of the project. Headings from the second level have anchors. Code in several languages has tabs. */
export function rendered(markdown: string): Html {
  return html`${partsOf(marked.lexer(markdown)).map((part, i) =>
    'samples' in part ? tabs(part.samples, `language-${i}`) : new Html(marked.parser(part.tokens)),
  )}`;
}

export interface Heading {
  title: string;
  anchor: string;
  depth: number;
}

/** The headings of a document that have anchors. */
export function headingsOf(markdown: string): Heading[] {
  return marked
    .lexer(markdown)
    .filter((token): token is Tokens.Heading => token.type === 'heading' && token.depth > 1)
    .map(({ text, depth }) => ({ title: text.replaceAll('`', ''), anchor: slugOf(text), depth }));
}

function isCode(token: Token): token is Tokens.Code {
  return token.type === 'code';
}

type Part = { tokens: Token[] } | { samples: Sample[] };

/** Splits a document, so that adjacent code in different languages of samples is a part of its own. */
function partsOf(tokens: readonly Token[]): Part[] {
  const parts: Part[] = [];
  let others: Token[] = [];
  let group: Token[] = [];
  const end = () => {
    const samples = group.filter(isCode).map(sampleOf);
    if (new Set(samples.map(({ language }) => language)).size < 2) others.push(...group);
    else {
      parts.push({ tokens: others }, { samples });
      others = [];
    }
    group = [];
  };
  for (const token of tokens) {
    const isSample = isCode(token) && nameOf(token.lang) !== undefined;
    if (isSample || (token.type === 'space' && group.length > 0)) group.push(token);
    else {
      end();
      others.push(token);
    }
  }
  end();
  return [...parts, { tokens: others }];
}

/** The language of samples with a name in a document, such as `ts`. */
function nameOf(lang = ''): string | undefined {
  return { sh: 'curl', js: 'javascript', ts: 'typescript', python: 'python' }[lang];
}

function sampleOf({ text, lang }: Tokens.Code): Sample {
  return { language: nameOf(lang)!, code: text };
}

/** Code in a language of `languages`. */
export interface Sample {
  language: string;
  code: string;
}

/** The same code in several languages, of which readers see the one that they chose last. No other tabs of the page have the name. */
export function tabs(samples: readonly Sample[], name = 'language'): Html {
  return html`<div class="samples">
<div class="tabs" role="radiogroup" aria-label="Language">${samples.map(
    ({ language }, i) =>
      html`<label><input type="radio" name="${name}" value="${language}"${i === 0 && html` checked`}>${languages[language]!.label}</label>`,
  )}</div>
${samples.map(
  ({ language, code }) =>
    html`<div data-language="${language}">${codeBlock(code, languages[language]!.grammar)}</div>\n`,
)}</div>`;
}

/** The HTML of a line. */
export function renderedLine(markdown: string): Html {
  return new Html(marked.parseInline(markdown, { async: false }));
}

/** Code with a button that copies it. */
export function codeBlock(code: string, language: string): Html {
  return html`<div class="code"><pre tabindex="0"><code>${new Html(highlighted(code, language))}</code></pre><button class="copy needs-script" type="button">Copy</button></div>`;
}

interface Row {
  /** What the row is about, such as an error code: links can lead to it. */
  name: string | undefined;
  cells: Html[];
}

/** A table, which scrolls in its own region if it is wide. The keyboard can focus the region. */
function scrollingTable(columns: Html[], rows: Row[], label: string): Html {
  return html`<div class="table" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${columns.map(column => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>
${rows.map(({ name, cells }) => html`<tr${name && html` id="${name}"`}>${cells.map((cell, i) => html`<td>${i === 0 ? withBreaks(cell) : cell}</td>`)}</tr>\n`)}</tbody>
</table></div>`;
}

/** Code that can break after `_`, where the style allows it: on phones, a long name would take the room of its meaning. */
function withBreaks(cell: Html): Html {
  return cell.text.startsWith('<code>') ? new Html(cell.text.replaceAll('_', '_<wbr class="narrow">')) : cell;
}

/** The code in the first cell of a row, if it is a name. */
function nameIn(cell: Tokens.TableCell | undefined): string | undefined {
  return /^`([a-z][\w.]*)`$/.exec(cell?.text ?? '')?.[1];
}
