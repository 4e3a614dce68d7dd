/** Text that is already HTML. All other text is escaped when it is inserted into a page. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value in a template: text is escaped, lists are joined, `undefined` and `false` insert nothing. */
type Part = Html | string | number | readonly Part[] | undefined | false;

/** Builds HTML from a template. Values are safe only as text and inside quoted attributes. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((text, string, i) => text + written(parts[i - 1]) + string));
}

function written(part: Part): string {
  if (part instanceof Html) return part.text;
  if (part === undefined || part === false) return '';
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part));
  return part.map(written).join('');
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, character => entities[character]!);
}
