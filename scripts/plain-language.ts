// Rejects the words that docs/glossary.md replaces with others. Arguments: the files and folders to read; all when there are none.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const GLOSSARY = 'docs/glossary.md';
/** The network error, the system user, and names that clients and dashboards read: the verdict `refused` and the field of key usage. */
const ALLOWED =
  /connections? refused|refused connections?|["'`]nobody["'`]|['"`.]refused\b|\brefused(?=[:,'`]| \}|$)/gi;
/** Programs write the lock file and the figures. This script names some of the words. */
const NOT_OURS =
  /(package-lock\.json|bench\/RESULTS\.md|scripts\/plain-language\.ts|\.(png|svg|ico|pem|crt|key))$/;

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
  {
    cwd: root,
    encoding: 'utf8',
  },
);
if (listed.status !== 0) throw new Error(`git ls-files failed: ${listed.stderr}`);
const files = listed.stdout
  .split('\n')
  .filter(file => file !== '' && file !== GLOSSARY && !NOT_OURS.test(file));

for (const file of files) {
  readFileSync(join(root, file), 'utf8')
    .split('\n')
    .forEach((line, index) => {
      for (const { pattern, instead } of replacements) {
        for (const [word] of spaced(line).matchAll(pattern)) {
          process.stderr.write(`${file}:${index + 1}: "${word}": write ${instead}\n`);
          process.exitCode = 1;
        }
      }
    });
}

/** The words of a line, also those inside names: `tellOfPet` and `ATTEMPTS_TOLD`. */
function spaced(line: string): string {
  return line
    .replaceAll(ALLOWED, '')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ');
}
