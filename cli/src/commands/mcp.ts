import { command } from '../command.ts';
import { flag } from '../parameters.ts';
import { script } from '../resources.ts';

export const mcp = command({
  name: 'mcp',
  summary: 'Serve tools for agents on standard input and output (Model Context Protocol)',
  details: [
    'An agent starts this command itself: its configuration names the command, as in the example. It has four tools: to search operations of the API, to describe one, to read, and to write. They use the API key of the profile, so create a key with the scopes that the agent needs.',
    'A limit is waited for up to 45 s, or up to --max-wait. If the wait would be longer, the agent gets an error with the time to try again.',
    'When the agent closes standard input, the command sends the results of the calls that are running, and then ends.',
  ].join('\n\n'),
  options: { readOnly: flag('Leave out the tool that writes') },
  examples: ['petstore mcp --read-only', 'petstore mcp --profile shop --max-wait 20s'],
  output: 'text',
  prints: script,
  input: () => 'the messages of the agent',
  run: async (context, { readOnly }) => {
    // Other commands start faster without it.
    const { serve } = await import('../mcp/server.ts');
    await serve(context, readOnly === true);
    return { script: '' };
  },
});
