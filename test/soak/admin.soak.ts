import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserAvailable, launchBrowser } from '../kit/browser.ts'
import { screenshots } from '../kit/screenshots.ts'
import { openPortalStage, type PortalStage } from '../scenarios/portal-stage.ts'
import { PORTAL_PAGES, visitPortal } from '../scenarios/portal-walk.ts'
import { dovecotAvailable } from '../servers/dovecot.ts'
import { radicaleAvailable } from '../servers/radicale.ts'

const LOOKS = [1280, 768, 390].flatMap((width) => (['light', 'dark'] as const).map((scheme) => ({ width, scheme })))

/** Every page of the portal in both colour schemes, on a desktop, a tablet and a phone. */
describe.skipIf(!browserAvailable() || !dovecotAvailable() || !radicaleAvailable())('the pages of the portal', () => {
  const keep = screenshots()
  let browser: Browser
  let stage: PortalStage
  beforeAll(async () => {
    browser = await launchBrowser()
    stage = await openPortalStage()
  })
  afterAll(async () => {
    await browser?.close()
    await stage?.close()
  })

  it.each(LOOKS)('are accessible and fit the screen: $width px, $scheme', async (look) => {
    const visit = await visitPortal({ browser, stage, keep }, look)
    for (const { name, path, heading, shows } of PORTAL_PAGES) {
      await visit.open(path(stage), heading)
      await shows(visit.page).waitFor()
      await visit.inspect(name)
    }
    expect(visit.problems).toEqual([])
    await visit.close()
  })
})
