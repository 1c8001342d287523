import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

/** Keeps pictures of the pages in `SCREENSHOT_DIR`, by default a fixed temporary folder, and prints which. A later run replaces them. */
export function screenshots(): (page: Page, name: string) => Promise<void> {
  const folder = process.env.SCREENSHOT_DIR ?? join(tmpdir(), 'posthorn-screenshots')
  mkdirSync(folder, { recursive: true })
  console.log(`Screenshots of the pages are in ${folder}.`)
  return async (page, name) => {
    const path = join(folder, `${name.replaceAll(/[^\p{L}\d]+/gu, '-')}.png`)
    await page.screenshot({ path, fullPage: true })
  }
}
