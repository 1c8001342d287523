// `npm run screenshot`: goes through the demo in Chromium and saves its page as the picture of the README.
// CHROMIUM names the browser; default /usr/bin/chromium.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, statSync } from 'node:fs'
import { chromium } from 'playwright-core'

const FILE = 'docs/images/demo.png'
const MAX_BYTES = 200_000
const TIMEOUT_MS = 30_000

process.chdir(new URL('..', import.meta.url).pathname)
const demo = spawn(process.execPath, ['scripts/start.mjs', 'demo'], {
  env: { ...process.env, CI: 'true' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = once(demo, 'exit')
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-lcd-text'],
})
try {
  const url = await urlOf(demo.stdout)
  const page = await browser.newPage({ colorScheme: 'light', viewport: { width: 1120, height: 900 } })
  page.setDefaultTimeout(TIMEOUT_MS)
  await page.goto(url)
  await page.getByRole('button', { name: 'Connect a mailbox' }).click()
  await page.getByRole('button', { name: 'Connect mailbox' }).click()
  await page.locator('.message').nth(4).waitFor()
  await page.getByRole('button', { name: 'Send me a message' }).click()
  await page.locator('.message').nth(5).waitFor()
  await page.locator('#step-receive[data-status=done]').waitFor()
  await page.locator('.webhook', { hasText: 'mailbox.changed' }).first().waitFor()
  await page.reload()
  await page.locator('.webhook').first().waitFor()
  await page.mouse.move(0, 0)
  mkdirSync('docs/images', { recursive: true })
  await page.screenshot({ path: FILE })
} finally {
  await browser.close()
  demo.kill('SIGINT')
  await ended
}
const { size } = statSync(FILE)
console.log(`${FILE}: ${Math.round(size / 1000)} kB`)
if (size > MAX_BYTES) throw new Error(`${FILE} is larger than ${MAX_BYTES / 1000} kB.`)

/** The URL of the application, which the demo prints. */
function urlOf(stdout) {
  let output = ''
  return new Promise((resolve, reject) => {
    stdout.on('data', (chunk) => {
      output += chunk
      const url = /click "Connect a mailbox":\s+(http\S+)/.exec(output)?.[1]
      if (url !== undefined) resolve(url)
    })
    stdout.on('end', () => reject(new Error(`The demo printed no URL:\n${output}`)))
  })
}
