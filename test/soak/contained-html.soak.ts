import { expect, it } from 'vitest'
import { containHtml } from '../../src/mail/messages/sanitizing/containment.ts'
import { sanitizeHtml } from '../../src/mail/messages/sanitizing/sanitize.ts'
import { launchBrowser } from '../kit/browser/browser.ts'
import { closing } from '../kit/closing.ts'
import { hostileHtml } from '../kit/messages/html/hostile-html.ts'
import { showMessages } from '../kit/messages/html/message-page.ts'
import { fc, random } from '../kit/random/random.ts'

const BATCHES = 10
const BATCH = 500

it('messages with generated styles affect nothing around them', { timeout: 30 * 60_000 }, async () => {
  const next = random()
  const browser = closing(await launchBrowser())
  const page = await browser.newPage({ viewport: { width: 900, height: 760 } })
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const seed = Math.floor(next() * 2 ** 31)
    const generated = fc.sample(hostileHtml, { numRuns: BATCH, seed })
    const sanitized = (await Promise.all(generated.map(sanitizeHtml))).map(String)
    expect(await showMessages(page, [...sanitized, ...generated.map(containHtml)]), `seed ${seed}`).toEqual([])
  }
})
