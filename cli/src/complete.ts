import type { Command } from './command.ts';
import { commands, groups } from './commands/index.ts';
import type { Parameter } from './parameters.ts';
import { configDirectory, readProfiles } from './profiles.ts';
import { optionName, optionsOf } from './shared-options.ts';

/** A word that can follow, and what it means. */
export type Candidate = readonly [word: string, meaning: string];

/** Returns the words that can replace the last of `words`, which may be empty. The first is the one after `petstore`. */
export function complete(words: readonly string[]): Candidate[] {
  if (words[0] === 'help' && words.length > 1) return complete(words.slice(1));
  const current = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const command = commandOf(before);
  return candidates(before, current, command).filter(([word]) => word.startsWith(current));
}

function candidates(before: readonly string[], current: string, command: Command | undefined): Candidate[] {
  if (before.includes('--')) return [];
  const options = optionsOf(command);
  const [, inline] = /^(--[^=]+)=/.exec(current) ?? [];
  const name = inline ?? before.at(-1);
  const option = Object.entries(options).find(([key]) => optionName(key) === name)?.[1];
  if (option?.value !== undefined)
    return valuesOf(option).map(([word, meaning]) => [inline ? `${inline}=${word}` : word, meaning]);
  if (current.startsWith('-')) {
    const given = Object.entries(options).map(([key, { help }]): Candidate => [optionName(key), help]);
    return [...given, ['--help', 'Show the help']];
  }
  if (command) {
    const operands = operandsOf(before, options);
    // `account` is a command, and has another one.
    const inner = operands.length === 1 ? namesAfter(operands) : [];
    return [...inner, ...argumentOf(command, operands.length - command.name.split(' ').length)];
  }
  return namesAfter(operandsOf(before, options));
}

/** The command that the words name, if they do. */
export function commandOf(words: readonly string[]): Command | undefined {
  const operands = operandsOf(words, optionsOf(undefined));
  const named = (words: string | undefined) =>
    commands.find(({ name, aliases = [] }) => [name, ...aliases].some(known => known === words));
  return named(operands.slice(0, 2).join(' ')) ?? named(operands[0]);
}

/** The words that are neither options nor their values. */
function operandsOf(words: readonly string[], options: Record<string, Parameter<unknown>>): string[] {
  return words.filter((word, i) => !word.startsWith('-') && !takesValue(options, words[i - 1]));
}

/** Whether the next word is the value of a word. */
export function takesValue(options: Record<string, Parameter<unknown>>, word: string | undefined): boolean {
  return Object.entries(options).some(([key, { value }]) => optionName(key) === word && value !== undefined);
}

/** The names of groups and commands, or of the commands of a group. */
function namesAfter([group]: readonly string[]): Candidate[] {
  if (group !== undefined)
    return commands
      .filter(({ name }) => name.startsWith(`${group} `))
      .map(({ name, summary }) => [name.split(' ')[1]!, summary]);
  const alone = commands.filter(({ name }) => !name.includes(' '));
  return [
    ...Object.entries(groups),
    ...alone.map(({ name, summary }): Candidate => [name, summary]),
    ['help', 'Show the help of a command'],
  ];
}

/** The values of the argument in a position. A list takes all further ones. */
function argumentOf({ arguments: parameters = {} }: Command, position: number): Candidate[] {
  const all = Object.values(parameters);
  const parameter = all[position] ?? (all.at(-1)?.isList ? all.at(-1) : undefined);
  return parameter ? valuesOf(parameter) : [];
}

function valuesOf({ choices, value, help }: Parameter<unknown>): Candidate[] {
  const words = value === 'profile' ? Object.keys(readProfiles(configDirectory()).profiles) : (choices ?? []);
  return words.map(word => [word, help]);
}
