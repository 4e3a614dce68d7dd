import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { eventually } from './browser.ts';

/** Runs in the page. Returns the color that a token has now, and how many points of the canvas have it. */
const pointsOf = `(element, token) => {
  const probe = document.createElement('i');
  probe.style.color = 'var(--' + token + ')';
  element.parentElement.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  const wanted = color.match(/\\d+/g).slice(0, 3).map(Number);
  // Chromium warns about canvases that are read again and again.
  const { width, height } = element;
  const copy = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(element, 0, 0);
  const { data } = copy.getImageData(0, 0, width, height);
  let points = 0;
  for (let i = 0; i < data.length; i += 4)
    if (data[i + 3] === 255 && wanted.every((value, channel) => data[i + channel] === value)) points++;
  return { color, points };
}`;

/** Fails unless the plot at a CSS selector has the color of a token in the theme that `changeTheme` chooses, as it has it in the present one. */
export async function assertFollowsTheme(
  page: Page,
  canvas: string,
  token: string,
  changeTheme: () => Promise<void>,
): Promise<void> {
  const read = (): Promise<{ color: string; points: number }> =>
    page.evaluate(`(${pointsOf})(document.querySelector('${canvas}'), '${token}')`);
  const isDrawn = () =>
    eventually(async () => (await read()).points > 0, true, `the color ${token} is in the plot`);
  await isDrawn();
  const before = await read();
  await changeTheme();
  await isDrawn();
  assert.notEqual((await read()).color, before.color);
}
