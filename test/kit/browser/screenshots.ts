import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { inject } from 'vitest'

/**
 * Keeps pictures of the pages in `SCREENSHOT_DIR`. The long tests have a fixed temporary folder as default, and print which; a later run
 * replaces them. `npm test` makes none by itself, because each takes a browser a quarter of a second.
 */
export function screenshots(): (page: Page, name: string) => Promise<void> {
  const folder = process.env.SCREENSHOT_DIR ?? (inject('isSoak') ? join(tmpdir(), 'posthorn-screenshots') : undefined)
  if (folder === undefined) return async () => {}
  mkdirSync(folder, { recursive: true })
  console.log(`Screenshots of the pages are in ${folder}.`)
  return async (page, name) => {
    const path = join(folder, `${name.replaceAll(/[^\p{L}\d]+/gu, '-')}.png`)
    await page.screenshot({ path, fullPage: true })
  }
}
