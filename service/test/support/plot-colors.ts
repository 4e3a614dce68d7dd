import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { eventually } from './browser.ts';

/** Returns how many points of a canvas have the color of a token now, and the color. */
async function pointsOf(canvas: Locator, token: string): Promise<{ color: string; points: number }> {
  return canvas.evaluate((element: HTMLCanvasElement, token) => {
    const probe = document.createElement('i');
    probe.style.color = `var(--${token})`;
    element.parentElement!.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    const [red, green, blue] = color.match(/\d+/g)!.map(Number);
    // Chromium warns about canvases that are read again and again.
    const { width, height } = element;
    const copy = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true })!;
    copy.drawImage(element, 0, 0);
    const { data } = copy.getImageData(0, 0, width, height);
    let points = 0;
    for (let i = 0; i < data.length; i += 4)
      if (data[i] === red && data[i + 1] === green && data[i + 2] === blue && data[i + 3] === 255) points++;
    return { color, points };
  }, token);
}

/** Fails unless a plot has the color of a token in the theme that `changeTheme` chooses, as it has it in the present one. */
export async function assertFollowsTheme(
  canvas: Locator,
  token: string,
  changeTheme: () => Promise<void>,
): Promise<void> {
  await eventually(async () => (await pointsOf(canvas, token)).points > 0, true);
  const before = await pointsOf(canvas, token);
  await changeTheme();
  await eventually(async () => (await pointsOf(canvas, token)).points > 0, true);
  assert.notEqual((await pointsOf(canvas, token)).color, before.color);
}
