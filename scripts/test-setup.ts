// Brings the browser that the tests of the portal need, where that can be done: for root on Debian and its like.
// Elsewhere those tests fail and say what to install.
import { spawnSync } from 'node:child_process';
import { findChromium, howToGetChromium } from '../service/test/support/chromium.ts';

/** One installation at a time on a machine; whoever waited finds it done. */
const INSTALL = `exec flock /tmp/petstore-chromium.lock sh -c '
  command -v chromium || { apt-get update && apt-get install -y --no-install-recommends chromium; }'`;

if (findChromium() === undefined) {
  if (process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0) install();
  else process.stderr.write(`${howToGetChromium}.\n`);
}

function install(): void {
  process.stderr.write('Installing Chromium for the tests of the portal (once; about a minute) …\n');
  const { status, stdout, stderr } = spawnSync('sh', ['-c', INSTALL], {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status === 0 && findChromium() !== undefined) return;
  process.stderr.write(
    `${stdout}${stderr}\nChromium could not be installed: see above. ${howToGetChromium}.\n`,
  );
}
