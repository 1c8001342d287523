// `npm run screenshot`: goes through the demo and its admin portal in Chromium, and saves the pictures of the README. The service has
// the counts of a week in use (`sample-activity.mjs`).
// CHROMIUM names the browser; default /usr/bin/chromium-headless-shell.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { writeActivity } from './sample-activity.mjs'

const FOLDER = 'docs/images'
const MAX_BYTES = 200_000
const TIMEOUT_MS = 60_000

process.chdir(new URL('..', import.meta.url).pathname)
const temporary = mkdtempSync(join(tmpdir(), 'posthorn-pictures-'))
const demo = spawn(process.execPath, ['scripts/start.mjs', 'posthorn', 'demo'], {
  env: { ...process.env, CI: 'true', TMPDIR: temporary },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = once(demo, 'exit')
let printed = ''
demo.stdout.on('data', (chunk) => {
  printed += chunk
})
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-lcd-text'],
})
mkdirSync(FOLDER, { recursive: true })
try {
  await saveDemo(await printedUrl(/click "Connect a mailbox":\s+(http\S+)/))
  const portalUrl = await printedUrl(/(http\S+\/portal\?ticket=\S+)/)
  const session = await signIn(portalUrl)
  const nowMs = lastThursday()
  writeActivity(databaseFile(), nowMs)
  await saveOverview(session, nowMs)
  await saveAccount(session)
} finally {
  await browser.close()
  demo.kill('SIGINT')
  await ended
  rmSync(temporary, { recursive: true, force: true })
}

async function saveDemo(url) {
  const page = await browser.newPage({ colorScheme: 'light', viewport: { width: 1120, height: 900 } })
  page.setDefaultTimeout(TIMEOUT_MS)
  await page.goto(url)
  await page.getByRole('button', { name: 'Connect a mailbox' }).click()
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await page.getByLabel('Password', { exact: true }).first().fill('demo')
  await page.getByRole('button', { name: 'Connect mailbox' }).click()
  await page.locator('.message').nth(4).waitFor()
  for (let messages = 5; messages < 9; messages += 1) {
    await page.getByRole('button', { name: 'Send me a message' }).click()
    await page.locator('.message').nth(messages).waitFor()
    if (messages > 5) continue
    await page.locator('#step-receive[data-status=done]').waitFor()
    await page.locator('.webhook', { hasText: 'mailbox.changed' }).first().waitFor()
    await page.reload()
    await page.locator('.webhook').first().waitFor()
    await page.mouse.move(0, 0)
    await page.evaluate(() => scrollTo(0, 0))
    await save(page, 'demo')
  }
}

/** Where the portal is, and the state of a browser that is signed in: the link works once. */
async function signIn(url) {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(url)
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor({ timeout: TIMEOUT_MS })
  return { url: page.url(), storageState: await context.storageState() }
}

/** In the afternoon of a working day, whenever the pictures are made. */
function lastThursday() {
  const date = new Date()
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 3) % 7))
  return date.setUTCHours(16, 20, 0, 0)
}

async function saveOverview({ url, storageState }, nowMs) {
  const page = await browser.newPage({
    colorScheme: 'light',
    storageState,
    timezoneId: 'UTC',
    viewport: { width: 1280, height: 860 },
  })
  page.setDefaultTimeout(TIMEOUT_MS)
  await page.clock.setFixedTime(nowMs)
  await page.goto(url)
  await page.getByRole('button', { name: 'Hide these steps' }).click()
  await page.mouse.move(0, 0)
  await page.locator('svg.chart').nth(1).waitFor()
  await page.locator('svg.sparkline').first().waitFor()
  await save(page, 'portal')
}

async function saveAccount({ url, storageState }) {
  const page = await browser.newPage({ colorScheme: 'dark', storageState, viewport: { width: 1200, height: 760 } })
  page.setDefaultTimeout(TIMEOUT_MS)
  await page.goto(`${url}/accounts`)
  await page.locator('[data-row]').first().click()
  await page.locator('[data-row]').nth(4).waitFor()
  await page.mouse.move(0, 0)
  await save(page, 'portal-account')
}

async function save(page, name) {
  const file = `${FOLDER}/${name}.png`
  await page.screenshot({ path: file })
  const { size } = statSync(file)
  console.log(`${file}: ${Math.round(size / 1000)} kB`)
  if (size > MAX_BYTES) throw new Error(`${file} is larger than ${MAX_BYTES / 1000} kB.`)
}

/** The database of the demo's service. */
function databaseFile() {
  const file = readdirSync(temporary, { recursive: true, encoding: 'utf8' }).find((name) =>
    name.endsWith('posthorn.db'),
  )
  if (file === undefined) throw new Error(`There is no database in ${temporary}.`)
  return join(temporary, file)
}

/** An address that the demo prints. */
async function printedUrl(pattern) {
  for (;;) {
    const url = pattern.exec(printed)?.[1]
    if (url !== undefined) return url
    if (demo.exitCode !== null) throw new Error(`The demo printed no URL:\n${printed}`)
    await once(demo.stdout, 'data')
  }
}
