import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LANGUAGES } from '../../src/ui/hosted/texts/index.ts'
import { axeViolations } from '../kit/browser/axe.ts'
import { browserAvailable, launchBrowser } from '../kit/browser/browser.ts'
import { screenshots } from '../kit/browser/screenshots.ts'
import { databases } from '../kit/database/database.ts'
import { type HostedServers, openHostedStage, startHostedServers } from '../scenarios/hosted-stage.ts'
import { HOSTED_STATES } from '../scenarios/hosted-states.ts'
import { SCHEMES, WIDTHS, walker } from '../scenarios/hosted-walk.ts'
import { dovecotAvailable } from '../servers/dovecot.ts'
import { radicaleAvailable } from '../servers/radicale.ts'

const LOOKS = Object.keys(LANGUAGES).flatMap((language) =>
  SCHEMES.flatMap((scheme) => WIDTHS.map((width) => ({ language, scheme, width }))),
)

describe.skipIf(!browserAvailable() || !dovecotAvailable() || !radicaleAvailable())(
  'every page of the hosted flow in every look',
  () => {
    const open = databases('sqlite')
    const keep = screenshots()
    let browser: Browser
    let servers: HostedServers
    beforeAll(async () => {
      browser = await launchBrowser()
      servers = await startHostedServers()
    })
    afterAll(async () => {
      await browser?.close()
      await servers?.close()
    })

    // A service of its own for each look, because services limit the requests of an address.
    it.each(LOOKS)('is accessible, fits the screen and leads back: $language, $scheme, $width px', async (look) => {
      const stage = await openHostedStage(open, servers)
      const visitor = await walker({ browser, stage, keep })
      const failures: string[] = []
      try {
        for (const state of HOSTED_STATES) {
          await visitor.walk(state, look).catch((error: unknown) => failures.push(`${state.name}: ${error}`))
        }
      } finally {
        await visitor.close()
        await stage.close()
      }
      expect(failures).toEqual([])
    })

    it.each(SCHEMES.flatMap((scheme) => WIDTHS.map((width) => ({ scheme, width }))))(
      'is joined by accessible documentation: $scheme, $width px',
      async ({ scheme, width }) => {
        const stage = await openHostedStage(open, servers)
        const context = await browser.newContext({ colorScheme: scheme, viewport: { width, height: 800 } })
        try {
          const page = await context.newPage()
          await page.goto(`${stage.hosted.url}/docs`)
          const pages = await page.evaluate<string[]>(
            `[...document.querySelectorAll('#page-menu a[href]')].map(({ href }) => href)`,
          )
          for (const [index, url] of pages.filter((one) => !one.includes('#')).entries()) {
            await page.goto(url)
            await page.getByRole('searchbox').waitFor()
            await keep(page, `docs ${index} ${scheme} ${width}`)
            expect([url, await page.evaluate(`document.documentElement.scrollWidth <= innerWidth`)]).toEqual([
              url,
              true,
            ])
            expect([url, await axeViolations(page, { targetSizes: false })]).toEqual([url, []])
          }
        } finally {
          await context.close()
          await stage.close()
        }
      },
    )
  },
)
