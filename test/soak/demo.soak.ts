import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { browserAvailable, launchBrowser } from '../kit/browser/browser.ts'
import { closing } from '../kit/closing.ts'
import { startDemo } from '../kit/service/demo.ts'
import { connectMailbox, openDemoPage, receiveMessage } from '../scenarios/demo-page.ts'

const USERS = { imap: 'ada@demo.posthorn.example', gmail: 'ada@gmail.com', microsoft: 'ada@outlook.com' }
const PROVIDERS = ['imap', 'gmail', 'microsoft'] as const

describe.skipIf(!browserAvailable())('the page of the demo, at every size and in both colour schemes', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  it.each(PROVIDERS)('connects a mailbox of %s and shows what arrives', async (provider) => {
    const demo = closing(startDemo({ provider }))
    const { page, check, close } = await openDemoPage(browser, await demo.url())
    await connectMailbox(page, USERS[provider])
    await receiveMessage(page)
    await check()
    await close()
    for (const scheme of ['light', 'dark'] as const) {
      for (const width of [1280, 375, 320]) {
        const other = await openDemoPage(browser, await demo.url(), { scheme, width })
        await other.page.locator('.webhook').first().waitFor()
        for (const details of await other.page.locator('summary:visible').all()) await details.click()
        await other.check()
        await other.close()
      }
    }
  })
})
