import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FROM_FRAME, FROM_PAGE } from '../../src/ui/widget/protocol.ts'
import { browserAvailable, launchBrowser } from '../kit/browser/browser.ts'
import { closing } from '../kit/closing.ts'
import { type BookingStage, openBookingStage, startSite, visit } from '../scenarios/booking-stage.ts'

const GUIDE = readFileSync('docs/embedding.md', 'utf8')
const blocks = (language: string) =>
  [...GUIDE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, text = '']) => text)
/** Rows of the table with this header, as the code in their first cell. */
const firstCells = (header: string) => {
  const table = GUIDE.split('\n\n').find((part) => part.startsWith(`| ${header}`)) ?? ''
  return table
    .split('\n')
    .slice(1)
    .flatMap((row) => /^\| `([^`]+)`/.exec(row)?.[1] ?? [])
}

/** Every page of the guide, in order. A new one needs a run below. */
const [INLINE = '', POPUP = '', FLOATING = '', SCRIPT = '', ELEMENT = '', EVENTS = '', DESIGN = ''] = blocks('html')

describe('the tables of the guide', () => {
  it('name every message of the frame', () => {
    const names = [...FROM_FRAME, ...FROM_PAGE].map((name) => `posthorn:v1:${name}`)
    expect(firstCells('`type`').sort()).toEqual(names.sort())
  })

  it('name every variable of the widget', () => {
    const css = ['base', 'form', 'times', 'week'].map((name) => readFileSync(`src/ui/widget/style/${name}.css`, 'utf8'))
    const used = new Set(css.join().match(/--posthorn-[a-z]+/g))
    expect(firstCells('Variable').sort()).toEqual([...used, '--posthorn-accent'].sort())
  })
})

describe.skipIf(!browserAvailable())('the examples of the guide', () => {
  let browser: Browser
  let stage: BookingStage
  beforeAll(async () => {
    browser = await launchBrowser()
    stage = await openBookingStage()
  })
  afterAll(async () => {
    await browser?.close()
    await stage?.close()
  })

  /** A page of the application that contains the example, with the addresses of this run. */
  async function run(example: string): Promise<Page> {
    let html = ''
    const site = closing(await startSite(() => html))
    const slug = await stage.experience({ allowedOrigins: [site.origin], bookingForm: null })
    const own = example.replaceAll('https://book.example.com', stage.url).replaceAll('intro-call', slug)
    html = `<!doctype html><html lang="en"><title>App</title><main><h1>App</h1>${own}</main></html>`
    const { page, problems } = await visit({ browser, origins: [stage.url, site.origin], keep: async () => {} })
    await page.goto(site.origin)
    expect(problems).toEqual([])
    return page
  }

  const framed = (page: Page) => page.frameLocator('iframe')

  it('have a run each', () => {
    expect(blocks('html')).toHaveLength(7)
    expect(blocks('sh')).toHaveLength(1)
  })

  it('allow an origin', async () => {
    const slug = await stage.experience()
    const [command = ''] = blocks('sh')
    const own = command.replaceAll('https://book.example.com', stage.url).replaceAll('intro-call', slug)
    const env = { PATH: process.env.PATH, SERVICE_API_KEY: stage.key }
    const { stdout } = await promisify(execFile)('bash', ['-euc', own], { env })
    expect(JSON.parse(stdout)).toMatchObject({ slug, allowedOrigins: ['https://www.example.com'] })
  })

  it('show the page inline, as a popup, and behind a floating button', async () => {
    await framed(await run(INLINE))
      .locator('.slot')
      .first()
      .waitFor()
    for (const example of [POPUP, FLOATING]) {
      const page = await run(example)
      await page.getByRole('button', { name: 'Book a call' }).click()
      await framed(page).locator('.slot').first().waitFor()
    }
  })

  it('open the popup from a script, with a value of the form', async () => {
    const page = await run(SCRIPT)
    const logged = page.waitForEvent('console')
    await page.getByRole('button', { name: 'Book a call' }).click()
    const frame = framed(page)
    await frame.locator('.slot').first().click()
    await expect.poll(() => frame.getByLabel('Email address').inputValue()).toBe('ada@example.com')
    await frame.getByLabel('Name').fill('Ada')
    await frame.getByRole('button', { name: 'Book' }).click()
    expect((await logged).text()).toMatch(/^booked bkg_/)
  })

  it('show the element with a value of the form, and with a design', async () => {
    const page = await run(ELEMENT)
    await page.locator('.slot').first().click()
    expect(await page.getByLabel('Email address').inputValue()).toBe('ada@example.com')
    const designed = await run(DESIGN)
    await designed.locator('.slot').first().waitFor()
    expect(await designed.evaluate(STYLE_OF_SLOT)).toEqual(['4px', 'Georgia, serif', 'light'])
  })

  it('receive the event of a booking', async () => {
    const page = await run(EVENTS)
    await page.locator('.slot').first().click()
    await page.getByLabel('Name').fill('Ada')
    await page.getByLabel('Email address').fill('ada@example.com')
    await page.getByRole('button', { name: 'Book' }).click()
    await expect.poll(() => page.title()).toMatch(/^Booked for \d{4}-/)
  })
})

const STYLE_OF_SLOT = `(() => {
  const { borderRadius, fontFamily, colorScheme } = getComputedStyle(
    document.querySelector('posthorn-scheduler').shadowRoot.querySelector('.slot'),
  )
  return [borderRadius, fontFamily, colorScheme]
})()`
