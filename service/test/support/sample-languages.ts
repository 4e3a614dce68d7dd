import { spawnSync } from 'node:child_process';

interface Program {
  file: string;
  command: [string, ...string[]];
  /** Succeeds if this machine can run the samples. */
  test: [string, ...string[]];
  /** The packages of Debian that contain it. */
  packages: string;
}

const node = process.execPath;

export const programs: Record<string, Program> = {
  curl: { file: 'sample.sh', command: ['sh', '-eu'], test: ['curl', '--version'], packages: 'curl' },
  javascript: { file: 'sample.mjs', command: [node], test: [node, '--version'], packages: 'nodejs' },
  typescript: { file: 'sample.mts', command: [node], test: [node, '--version'], packages: 'nodejs' },
  python: {
    file: 'sample.py',
    command: ['python3'],
    test: ['python3', '-c', 'import requests'],
    packages: 'python3-requests',
  },
  php: {
    file: 'sample.php',
    command: ['php'],
    test: ['php', '-r', 'curl_init();'],
    packages: 'php-cli php-curl',
  },
  go: { file: 'sample.go', command: ['go', 'run'], test: ['go', 'version'], packages: 'golang-go' },
};

/** Whether this machine can run the samples of a language. */
export function isInstalled(language: string): boolean {
  const [file, ...args] = programs[language]!.test;
  return spawnSync(file, args).status === 0;
}

/** The remedy if the program for a language is missing. */
export function howToGetSampleProgram(language: string): string {
  return `The samples in ${language} need a program that is missing (Debian: apt-get install ${programs[language]!.packages})`;
}

/** Throws if this machine cannot run the samples of a language, with the packages to install. */
export function requireProgram(language: string): void {
  if (!(language in programs))
    throw new Error(`There are no samples in ${language}: name ${Object.keys(programs).join(', ')}`);
  if (!isInstalled(language)) throw new Error(howToGetSampleProgram(language));
}
