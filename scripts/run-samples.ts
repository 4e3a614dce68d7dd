// Runs the samples of the portal against a service: every operation in every language, or in those that the arguments name.
// Fails if a sample fails, or if this machine lacks the program for a language. Go compiles each sample, which takes minutes.
import { requireProgram, sampleLanguages } from '../service/test/support/sample-languages.ts';
import { runSamples } from '../service/test/support/sample-programs.ts';

const named = process.argv.slice(2);
const languages = named.length > 0 ? named : sampleLanguages;
for (const language of languages) requireProgram(language);
for (const language of languages) {
  const started = performance.now();
  const { count, failures } = await runSamples(language);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  process.stdout.write(`${language}: ${count - failures.length} of ${count} samples work (${seconds} s)\n`);
  for (const failure of failures) process.stderr.write(`${failure}\n`);
  if (failures.length > 0) process.exitCode = 1;
}
