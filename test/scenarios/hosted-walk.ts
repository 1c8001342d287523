import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { translate } from '../../src/ui/hosted/index.ts'
import { axeViolations } from '../kit/browser/axe.ts'
import { badSizes, brokenIds, lowContrasts, namelessControls } from '../kit/browser/browser.ts'
import type { HostedStage } from './hosted-stage.ts'
import { type HostedState, leave } from './hosted-state.ts'
import type { Visit } from './hosted-steps.ts'

/** How a page is shown. */
export interface Look {
  width: number
  scheme: 'light' | 'dark'
  language: string
}

export const WIDTHS = [1280, 375, 320]
export const SCHEMES = ['light', 'dark'] as const
const HEIGHT = 800

export interface Walker {
  /** Brings the browser to the state as a new visitor, inspects the page, and leaves it. One at a time. */
  walk(state: HostedState, look: Look): Promise<void>
  close(): Promise<void>
}

export interface WalkerDeps {
  browser: Browser
  stage: HostedStage
  /** Keeps a picture of the page under this name. */
  keep(page: Page, name: string): Promise<void>
}

/** All visits use one browser page, because opening another one takes longer than most visits. */
export async function walker({ browser, stage, keep }: WalkerDeps): Promise<Walker> {
  const context = await browser.newContext()
  context.setDefaultTimeout(300_000)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    // The browser reports pages with a status of 4xx, which pages of errors have, as failures.
    const isOwn = message.location().url.startsWith(stage.hosted.url)
    const isStatus = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && isOwn && !isStatus) problems.push(message.text())
  })

  let status = 0
  page.on('response', (response) => {
    const origins = [stage.hosted.url, stage.withoutProviders.url]
    const isPage = response.frame() === page.mainFrame() && response.request().isNavigationRequest()
    if (isPage && origins.includes(new URL(response.url()).origin)) status = response.status()
  })

  async function enterAs({ width, scheme, language }: Look): Promise<void> {
    stage.isLicenceFull = false
    problems.length = 0
    await page.unrouteAll()
    await context.clearCookies()
    await page.setViewportSize({ width, height: HEIGHT })
    await page.emulateMedia({ colorScheme: scheme })
    await page.setExtraHTTPHeaders({ 'accept-language': language })
  }

  async function inspect(name: string, { width, scheme, language }: Look): Promise<void> {
    await keep(page, `${name} ${language} ${scheme} ${width}`)
    expect(await axeViolations(page)).toEqual([])
    expect(await lowContrasts(page)).toEqual([])
    expect(await namelessControls(page)).toEqual([])
    expect(await brokenIds(page)).toEqual([])
    expect(await badSizes(page)).toEqual([])
    expect(await page.locator('h1').count()).toBe(1)
  }

  return {
    async walk(state, look) {
      await enterAs(look)
      const visit: Visit = {
        page,
        stage,
        t: translate(look.language),
        code: '',
        // Without content, the browser stays on the page that it is on.
        stayAwayFrom: async (origin) =>
          void (await page.route(`${origin}/**`, (route) => route.fulfill({ status: 204 }))),
      }
      await state.reach(visit)
      await page.getByText(state.shows(visit.t)).first().waitFor()
      if (!page.url().startsWith(stage.redirectUri)) {
        expect(status).toBe(state.status ?? 200)
        await inspect(state.name, look)
        const language = await page.locator('html').getAttribute('lang')
        expect(language).toBe(state.isEnglish ? 'en' : look.language)
      }
      await page.unrouteAll()
      const { reached, expected } = await leave(visit, state)
      expect(reached).toBe(expected)
      if (state.session !== undefined) expect(await stage.hosted.status(visit.code)).toMatchObject(state.session)
      state.checkAccess?.(await stage.hosted.access(visit.code), stage)
      expect(problems).toEqual([])
    },
    close: () => context.close(),
  }
}
