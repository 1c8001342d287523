import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserAvailable, launchBrowser } from '../kit/browser/browser.ts'
import { screenshots } from '../kit/browser/screenshots.ts'
import { databases } from '../kit/database/database.ts'
import { type HostedServers, type HostedStage, openHostedStage, startHostedServers } from '../scenarios/hosted-stage.ts'
import { HOSTED_STATES } from '../scenarios/hosted-states.ts'
import { SCHEMES, type Walker, WIDTHS, walker } from '../scenarios/hosted-walk.ts'
import { dovecotAvailable } from '../servers/dovecot.ts'
import { radicaleAvailable } from '../servers/radicale.ts'

/** The long tests show every state in every look; here each state has one of them. */
const LANGUAGES = ['en', 'de']
const chooseLook = (index: number) => ({
  width: WIDTHS[index % WIDTHS.length] ?? 0,
  scheme: SCHEMES[Math.floor(index / 2) % 2] ?? 'light',
  language: LANGUAGES[index % 2] ?? 'en',
})

describe.skipIf(!browserAvailable() || !dovecotAvailable() || !radicaleAvailable())(
  'each page of the hosted flow',
  () => {
    const open = databases('sqlite')
    let browser: Browser
    let servers: HostedServers
    let stage: HostedStage
    let visitor: Walker
    beforeAll(async () => {
      browser = await launchBrowser()
      servers = await startHostedServers()
      stage = await openHostedStage(open, servers)
      visitor = await walker({ browser, stage, keep: screenshots() })
    })
    afterAll(async () => {
      await browser?.close()
      await stage?.close()
      await servers?.close()
    })

    it.each(HOSTED_STATES.map((state, index) => ({ ...state, look: chooseLook(index) })))(
      'is accessible, fits the screen and leads back to the application: $name ($look.language, $look.scheme, $look.width px)',
      ({ look, ...state }) => visitor.walk(state, look),
    )

    it('has its own name', () => {
      expect(new Set(HOSTED_STATES.map(({ name }) => name)).size).toBe(HOSTED_STATES.length)
    })
  },
)
