import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { argumentsOf } from './arguments.ts';
import { UsageError } from './failure.ts';

const options = {
  after: { type: 'string' },
  scope: { type: 'string', multiple: true },
  demo: { type: 'boolean', default: false },
} as const;

describe('the arguments of a command', () => {
  it('are its options, with numbers below zero, and the others', () => {
    const given = ['--after', '-1', '--scope', 'a', 'file', '--scope=-b', '--', '-x'];
    const { values, positionals } = argumentsOf(given, options, { allowPositionals: true });
    assert.deepEqual({ ...values }, { after: '-1', scope: ['a', '-b'], demo: false });
    assert.deepEqual(positionals, ['file', '-x']);
    assert.equal(argumentsOf(['--demo'], options).values.demo, true);
  });

  const rejected: [args: string[], message: string][] = [
    [['--after'], 'Option --after needs a value: write --after=VALUE'],
    [
      ['--after', '--demo'],
      'Option --after needs a value, but --demo follows: write --after=--demo if that is the value',
    ],
    [
      ['--after', '-x'],
      'Option --after needs a value, but -x follows: write --after=-x if that is the value',
    ],
    [['--after', '1', '--after=2'], 'Option --after is repeated: name it once'],
    [['--demo=yes'], 'Option --demo has no value: write only --demo'],
    [['--aftr', '1'], 'There is no option --aftr: did you mean --after?'],
    [['--colour'], 'There is no option --colour: --help lists all arguments'],
    [['-1'], 'There is no option -1: --help lists all arguments'],
    [['1'], 'Unexpected argument 1: --help lists all arguments'],
  ];
  for (const [args, message] of rejected) {
    it(`${args.join(' ')} is rejected with the remedy`, () => {
      assert.throws(() => argumentsOf(args, options), new UsageError(message));
    });
  }
});
