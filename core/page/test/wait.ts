/** Functions that wait for the content of a page. */
import type { Page } from "puppeteer-core";

const WAIT_MS = 15_000;

export async function text(page: Page, selector: string): Promise<string> {
  return await page.$eval(selector, (element) => (element as HTMLElement).innerText);
}

export async function waitForText(page: Page, selector: string, expected: string): Promise<void> {
  await page.waitForFunction((where: string, what: string) => [...document.querySelectorAll<HTMLElement>(where)]
    .some((element) => element.innerText.includes(what)), { timeout: WAIT_MS }, selector, expected)
    .catch(async (error: unknown) => {
      const texts = await page.$$eval(selector, (all) => all.map((element) => (element as HTMLElement).innerText.slice(0, 300)));
      throw new Error(`no "${expected}" in ${selector}: ${JSON.stringify(texts)}`, { cause: error });
    });
}

/** Waits for an element whose text starts with `expected`, and clicks it. */
export async function clickText(page: Page, selector: string, expected: string): Promise<void> {
  await page.waitForFunction((where: string, what: string) => {
    const found = [...document.querySelectorAll<HTMLElement>(where)].find((element) => element.innerText.startsWith(what));
    found?.click();
    return found !== undefined;
  }, { timeout: WAIT_MS }, selector, expected);
}

/** Waits for the flame graph of a view. */
export async function waitForGraph(page: Page): Promise<void> {
  await page.waitForSelector(".graph canvas", { timeout: WAIT_MS });
}

/** Waits until a canvas has a pixel whose colour differs from that of its first pixel. */
export async function waitForPaint(page: Page): Promise<void> {
  await page.waitForFunction(() => [...document.querySelectorAll("canvas")].some((canvas) => {
    const pixels = canvas.width > 0 && canvas.height > 0 ? canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data : undefined;
    return pixels?.some((value, at) => value !== pixels[at % 4]) ?? false;
  }), { timeout: 20_000 });
}

/** Waits until the page has not changed for 300 ms. */
export async function waitForQuiet(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await new Promise<void>((resolve) => {
      let timer = setTimeout(resolve, 300);
      new MutationObserver(() => {
        clearTimeout(timer);
        timer = setTimeout(resolve, 300);
      }).observe(document.body, { subtree: true, childList: true, attributes: true });
    });
  });
}

export function parameter(page: Page, name: string): string | null {
  return new URL(page.url()).searchParams.get(name);
}

export async function waitForParameter(page: Page, name: string, value: string | null): Promise<void> {
  await page.waitForFunction((key: string, wanted: string | null) => new URL(location.href).searchParams.get(key) === wanted,
    { timeout: WAIT_MS }, name, value);
}

/** Reloads the page with a shorter interval of live refreshes. `window.ticks` counts the
 * scheduled refreshes. */
export async function reloadWithFastLive(page: Page): Promise<void> {
  await page.evaluateOnNewDocument(() => {
    const later = window.setTimeout.bind(window);
    const counted = window as unknown as { ticks: number };

    counted.ticks = 0;
    window.setTimeout = ((run: () => void, ms: number) => {
      counted.ticks += ms === 5000 ? 1 : 0;
      return later(run, ms === 5000 ? 100 : ms);
    }) as typeof window.setTimeout;
  });
  await page.reload();
}

/** Waits until a live view has scheduled `more` refreshes. */
export async function waitForTicks(page: Page, more: number): Promise<void> {
  const now = await page.evaluate(() => (window as unknown as { ticks: number }).ticks);

  await page.waitForFunction((wanted: number) => (window as unknown as { ticks: number }).ticks >= wanted, {}, now + more);
}
