// Finds the prose in files of this project: comments, texts and Markdown, without the names of the code.
import {
  isIdentifier,
  isPrivateIdentifier,
  isRegularExpressionLiteral,
  isStringLiteral,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { createVirtualFileSystem } from 'typescript/unstable/fs';
import { API } from 'typescript/unstable/sync';

const COMPILED = /\.(?:ts|tsx|js|mjs)$/;
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

/**
 * Returns the texts of files with spaces instead of everything that is not prose, so that lines and columns stay the same. The
 * keys are the names of the files; their endings decide how the files are read.
 */
export function proseOf(files: ReadonlyMap<string, string>): Map<string, string> {
  const isCompiled = ([name]: readonly [string, string]) => COMPILED.test(name);
  const compiled = withoutNames(new Map([...files].filter(isCompiled)));
  const others = [...files]
    .filter(file => !isCompiled(file))
    .map(([name, text]) => [name, proseIn(name, text)] as const);
  return new Map(
    [...compiled, ...others].map(([name, text]) => [name, text.replaceAll(NAMES_IN_TEXT, blank)]),
  );
}

function proseIn(name: string, text: string): string {
  if (name.endsWith('.md')) return text.replaceAll(FENCED, commentsOf);
  if (/\.(?:yaml|json)$/.test(name)) return text.replaceAll(KEYS_AND_NAMES, blank);
  if (/\.(?:sql|lua)$/.test(name)) return text.replaceAll(STATEMENTS, blank);
  return text;
}

function commentsOf(code: string): string {
  return code.replaceAll(/.+/g, line => (COMMENT.exec(line)?.[0] ?? '').padStart(line.length));
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ');
}

/** Reads the files with the parser of the compiler, each by itself. */
function withoutNames(files: ReadonlyMap<string, string>): Map<string, string> {
  if (files.size === 0) return new Map();
  const configuration = '/tsconfig.json';
  const compilerOptions = { noLib: true, noResolve: true, allowJs: true, types: [], jsx: 'preserve' };
  const sources = Object.fromEntries([...files].map(([name, text]) => [`/${name}`, text]));
  const settings = JSON.stringify({ compilerOptions, files: Object.keys(sources) });
  const fs = createVirtualFileSystem({ ...sources, [configuration]: settings });
  const api = new API({ cwd: '/', fs });
  try {
    const snapshot = api.updateSnapshot({ openProjects: [configuration] });
    const { program } = snapshot.getProject(configuration)!;
    return new Map(
      [...files].map(([name, text]) => {
        const source = program.getSourceFile(`/${name}`);
        if (!source) throw new Error(`The compiler could not read ${name}`);
        return [name, withoutRanges(text, [...rangesOfCode(source, text)])];
      }),
    );
  } finally {
    api.close();
  }
}

type Range = readonly [start: number, end: number];

/** The ranges of names, regular expressions and the backticks of templates, in the order of the text. */
function* rangesOfCode(node: Node, text: string): Generator<Range> {
  const start = node.getStart();
  if (isIdentifier(node) || isPrivateIdentifier(node) || isRegularExpressionLiteral(node)) {
    yield [start, node.end];
  } else if (isStringLiteral(node) && NAME.test(text.slice(start, node.end))) {
    yield [start, node.end];
  } else if (templates.has(node.kind)) {
    if (NAME.test(text.slice(start, node.end))) yield [start, node.end];
    else yield* [[start, start + 1] as const, [node.end - 1, node.end] as const];
  } else {
    const inner: Node[] = [];
    node.forEachChild(child => void inner.push(child));
    for (const child of inner) yield* rangesOfCode(child, text);
  }
}

const templates: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle,
  SyntaxKind.TemplateTail,
]);

function withoutRanges(text: string, ranges: readonly Range[]): string {
  let rest = 0;
  let kept = '';
  for (const [start, end] of ranges) {
    kept += text.slice(rest, start) + blank(text.slice(start, end));
    rest = end;
  }
  return kept + text.slice(rest);
}
