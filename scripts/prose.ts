// Finds the prose in files of this project: comments, texts and Markdown, without the names of the code.

/** A string of one word is a column, a label or a value, such as `'refused'`. Texts for people begin with a capital letter. */
const NAME = /^["'`][a-z][^\s"'`]*["'`]$/;
/** Names in texts: code in backticks, a word in quotation marks (the user "nobody"), and a column or method of something. */
const NAMES_IN_TEXT = /`[^`\n]+`|"[a-z][\w-]*"|\b\w+(?:\.\w+)+/g;
const FENCED = /^ *```.*?^ *```/gms;
const COMMENT = /(?:^|\s)(?:#|\/\/|\/?\*)\s.*/;
/** The keys of YAML and JSON, and values of one word. */
const KEYS_AND_NAMES =
  /^ *(?:- +)?(?:["']?[\w$./-]+["']?:(?:$| +(?:["']?[a-z][\w.:/-]*["']?,?$)?)|["']?[a-z][\w.:/-]*["']?,?$)/gm;
const STATEMENTS = /^.*?(?=--|$)/gm;
/** A regular expression, whose quotation marks begin no text. */
const EXPRESSION = String.raw`(?<=[=(,:[!&|?;{}]\s*|return )\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/`;
const COMMENTS = String.raw`\/\/.*|\/\*[^]*?\*\/`;
const TEXTS = String.raw`'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\`(?:[^\`\\]|\\[^])*\``;
/** Between two elements, or between an element and an expression. */
const IN_ELEMENTS = String.raw`(?<=[\w"'/}\n]>|\})[^<>{}();=\`]+(?=<|\{)`;
const PROSE_OF_PROGRAM = new RegExp(`${EXPRESSION}|(?<prose>${COMMENTS}|${TEXTS})`, 'g');
const PROSE_OF_ELEMENTS = new RegExp(`${EXPRESSION}|(?<prose>${IN_ELEMENTS}|${COMMENTS}|${TEXTS})`, 'g');

/** Returns the text of a file with spaces instead of everything that is not prose, so that lines and columns stay the same. */
export function proseOf(name: string, text: string): string {
  return proseIn(name, text).replaceAll(NAMES_IN_TEXT, blank);
}

function proseIn(name: string, text: string): string {
  if (name.endsWith('.md')) return text.replaceAll(FENCED, commentsOf);
  if (/\.(?:yaml|json)$/.test(name)) return text.replaceAll(KEYS_AND_NAMES, blank);
  if (/\.(?:sql|lua)$/.test(name)) return text.replaceAll(STATEMENTS, blank);
  if (name.endsWith('.tsx')) return commentsAndTexts(text, PROSE_OF_ELEMENTS);
  if (/\.(?:ts|js|mjs)$/.test(name)) return commentsAndTexts(text, PROSE_OF_PROGRAM);
  return text;
}

/** Texts in expressions within a text are not read. */
function commentsAndTexts(program: string, pattern: RegExp): string {
  let rest = 0;
  let kept = '';
  for (const { 0: part, index, groups } of program.matchAll(pattern)) {
    const isProse = groups!.prose !== undefined && !NAME.test(part);
    kept += blank(program.slice(rest, index));
    kept += isProse ? part.replaceAll(/\$\{[^}]*\}|^`|`$/g, blank) : blank(part);
    rest = index + part.length;
  }
  return kept + blank(program.slice(rest));
}

function commentsOf(code: string): string {
  return code.replaceAll(/.+/g, line => (COMMENT.exec(line)?.[0] ?? '').padStart(line.length));
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ');
}
