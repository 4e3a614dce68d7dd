import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { eventually } from './browser.ts';

/** Runs in the page. Returns the color of a token, and that of what the plot has drawn with its tone. */
const colorsOf = `(plot, token) => {
  const probe = document.createElement('i');
  probe.style.color = 'var(--' + token + ')';
  plot.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return [color, getComputedStyle(plot.querySelector('path[data-tone="' + token + '"]')).fill];
}`;

/** Fails unless the plot at a CSS selector has the color of a token in the theme that `changeTheme` chooses, as it has it in the present one. */
export async function assertFollowsTheme(
  page: Page,
  plot: string,
  token: string,
  changeTheme: () => Promise<void>,
): Promise<void> {
  const read = (): Promise<[string, string]> =>
    page.evaluate(`(${colorsOf})(document.querySelector('${plot}'), '${token}')`);
  const [before, drawn] = await read();
  assert.equal(drawn, before);
  await changeTheme();
  await eventually(async () => (await read())[0] !== before, true, 'the theme has another color');
  const [after, redrawn] = await read();
  assert.equal(redrawn, after);
}
