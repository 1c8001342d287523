import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'

/** The engine of Chromium alone, which takes a third of the CPU time. */
const SHELL = '/usr/bin/chromium-headless-shell'
const CHROMIUM = '/usr/bin/chromium'

/** False when they are not installed. Tests that need one are then skipped. */
export function browserAvailable(): boolean {
  return existsSync(SHELL) && existsSync(CHROMIUM)
}

/** Starts the engine of Debian's Chromium, without any network traffic of its own. */
export function launchBrowser(): Promise<Browser> {
  return launch(SHELL, [])
}

/** Starts a whole Chromium that blocks the cookies of embedded sites, which the engine alone cannot. */
export function launchStrictBrowser(): Promise<Browser> {
  return launch(CHROMIUM, ['--headless', '--test-third-party-cookie-phaseout'])
}

function launch(executablePath: string, flags: readonly string[]): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...flags,
    ],
  })
}

/** Texts whose contrast with their background is below WCAG AA, as `text: ratio`. */
export function lowContrasts(page: Page): Promise<string[]> {
  return page.evaluate(LOW_CONTRASTS)
}

/** Elements in tab order, by id or text. */
export async function tabOrder(page: Page): Promise<string[]> {
  const reached: string[] = []
  await page.evaluate(`document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')`)
  for (let index = 0; index < 60; index += 1) {
    await page.keyboard.press('Tab')
    const name = await focused(page)
    if (name === '' || name === reached[0]) break
    reached.push(name)
  }
  return reached
}

/** The id or text of the focused element. Empty when nothing has the focus. */
export function focused(page: Page): Promise<string> {
  return page.evaluate(
    `document.activeElement === document.body ? '' : document.activeElement.id || document.activeElement.textContent.trim()`,
  )
}

/** Controls without an accessible name. */
export function namelessControls(page: Page): Promise<string[]> {
  return page.evaluate(NAMELESS)
}

/** Duplicate ids, and ids that are referenced but do not exist. */
export function brokenIds(page: Page): Promise<string[]> {
  return page.evaluate(BROKEN_IDS)
}

/** Controls lower than 44 px, and `page` when it is wider than the screen. */
export function badSizes(page: Page): Promise<string[]> {
  return page.evaluate(BAD_SIZES)
}

// The scripts are strings, so that DOM types do not become visible to server code.

const LOW_CONTRASTS = `(() => {
  const parse = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number)
  const linear = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4)
  const luminance = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
  const behind = (element) => {
    if (element === null) return [255, 255, 255]
    const colour = parse(getComputedStyle(element).backgroundColor)
    return colour[3] === 0 ? behind(element.parentElement) : colour
  }
  const low = []
  const check = (element, colour, text, least) => {
    const [darker, lighter] = [luminance(parse(colour)), luminance(behind(element))].sort((a, b) => a - b)
    const ratio = (lighter + 0.05) / (darker + 0.05)
    if (ratio < least) low.push(text + ': ' + ratio.toFixed(2))
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement
    const text = walker.currentNode.textContent.trim()
    if (text === '' || !element.checkVisibility()) continue
    const style = getComputedStyle(element)
    check(element, style.color, text, parseFloat(style.fontSize) >= 24 ? 3 : 4.5)
  }
  for (const input of document.querySelectorAll('input:not([type=hidden], [type=checkbox])')) {
    if (!input.checkVisibility()) continue
    check(input, getComputedStyle(input).color, 'value of ' + input.id, 4.5)
    check(input, getComputedStyle(input, '::placeholder').color, 'placeholder of ' + input.id, 4.5)
    check(input.parentElement, getComputedStyle(input).borderTopColor, 'border of ' + input.id, 3)
  }
  return low
})()`

const NAMELESS = `[...document.querySelectorAll('input:not([type=hidden]), select, button, a, summary')]
  .filter((control) => {
    const labels = [...(control.labels?.length ? control.labels : [control])]
    return (control.getAttribute('aria-label') ?? labels.map((label) => label.textContent).join('')).trim() === ''
  })
  .map((control) => control.outerHTML)`

const BROKEN_IDS = `(() => {
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id)
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index)
  const named = [...document.querySelectorAll('[aria-describedby], [aria-controls], label[for], a[href^="#"]')].flatMap((element) =>
    ['aria-describedby', 'aria-controls', 'for', 'href'].flatMap((name) => element.getAttribute(name)?.replace(/^#/, '').split(' ') ?? []),
  )
  return [...twice, ...named.filter((id) => !/[:/]/.test(id) && !ids.includes(id))]
})()`

const BAD_SIZES = `(() => {
  const controls = document.querySelectorAll('input:not([type=hidden], [type=checkbox]), select, .button, summary')
  const low = [...controls].filter((control) => control.checkVisibility() && control.getBoundingClientRect().height < 44)
  const names = low.map((control) => control.id || control.textContent.trim())
  return document.documentElement.scrollWidth > innerWidth ? [...names, 'page'] : names
})()`
