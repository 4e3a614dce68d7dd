// Rejects the words that docs/glossary.md replaces with others, in prose. Arguments: the files and folders to read; all when there
// are none.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { proseOf } from './prose.ts';

const root = join(import.meta.dirname, '..');
const GLOSSARY = 'docs/glossary.md';
/** The name of the network error, and of two columns. */
const ALLOWED = /connections? refused|refused connections?|admitted, refused/gi;
/** Programs write the lock files and the figures. The search also knows words that developers use and that we avoid. */
const NOT_OURS =
  /(package-lock\.json|bench\/RESULTS\.md|scripts\/search\/\w+\.json|portal\/search-[a-z]+\.json|search-words\.js|\.(png|svg|ico|pem|crt|key))$/;

interface Replacement {
  pattern: RegExp;
  instead: string;
}

const replacements = readFileSync(join(root, GLOSSARY), 'utf8')
  .split('## What to write instead')[1]!
  .split('\n')
  .filter(line => line.startsWith('| ') && !/^\| (Not|---)/.test(line))
  .map((line): Replacement => {
    const [words, instead] = line.slice(1, -1).split('|');
    const alternatives = words!.split(',').map(word => word.trim().replaceAll(' ', '\\s+'));
    return { pattern: new RegExp(`\\b(?:${alternatives.join('|')})\\b`, 'gi'), instead: instead!.trim() };
  });

const listed = spawnSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...process.argv.slice(2)],
  { cwd: root, encoding: 'utf8' },
);
if (listed.status !== 0) throw new Error(`git ls-files failed: ${listed.stderr}`);
const files = listed.stdout
  .split('\n')
  .filter(file => file !== '' && file !== GLOSSARY && !NOT_OURS.test(file));

for (const file of files) {
  const prose = proseOf(file, readFileSync(join(root, file), 'utf8'));
  for (const [index, line] of prose.replaceAll(ALLOWED, '').split('\n').entries()) {
    for (const { pattern, instead } of replacements) {
      for (const [word] of line.matchAll(pattern)) {
        process.stderr.write(`${file}:${index + 1}: "${word}": write ${instead}\n`);
        process.exitCode = 1;
      }
    }
  }
}
