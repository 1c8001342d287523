import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, onTestFinished } from 'vitest'
import { browserAvailable, launchBrowser } from '../../test/kit/browser/browser.ts'
import { startServiceProcess } from '../../test/kit/service/process.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

/** Runs in the page. What it uses is what browsers, workers and Node share. */
const PROGRAM = `
import { NotFoundError, Posthorn, webhooks } from '@posthorn/sdk'

export async function run({ apiKey, body, headers, secret }) {
  const posthorn = new Posthorn({ baseUrl: location.origin, apiKey })
  await posthorn.endpoints.create({ url: 'http://127.0.0.1:9/hook', eventTypes: ['*'] })
  for (const type of ['message.received', 'booking.created']) await posthorn.endpoints.sendTestEvent({ type })
  const listed = []
  for await (const { type } of posthorn.events.list({ order: 'asc', limit: 1 })) listed.push(type)
  const streamed = []
  for await (const { type } of posthorn.events.stream({ since: '0' })) if (streamed.push(type) === 2) break
  const missing = await posthorn.accounts.get('acc_none').catch((error) => error instanceof NotFoundError)
  const aborted = await posthorn.accounts.list({}, { signal: AbortSignal.abort('left') }).then(undefined, (reason) => reason)
  const files = { notes: new File(['notes'], 'notes.txt') }
  const message = { to: ['ada@acme.example'], subject: 'Files', body: '' }
  const refused = await posthorn.messages.send('acc_none', message, { files }).catch(({ status }) => status)
  const { type } = await webhooks.verify(body, headers, secret)
  return { listed, streamed, missing, aborted, refused, type, metrics: (await posthorn.metrics.get()).includes('# HELP') }
}
`

describe.skipIf(!browserAvailable())('in a browser', () => {
  it('lists, streams, uploads, throws and verifies as in Node', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-sdk-'))
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
    const service = await startServiceProcess({ dataDir })
    onTestFinished(() => service.kill())
    const browser = await launchBrowser()
    onTestFinished(() => browser.close())
    const stdin = { contents: PROGRAM, resolveDir: process.cwd() }
    const bundled = await build({ stdin, bundle: true, format: 'iife', globalName: 'program', write: false })
    const page = await browser.newPage()
    await page.goto(`${service.url}/health`)
    await page.evaluate(`${bundled.outputFiles[0]?.text}; window.program = program`)
    const body = JSON.stringify({ type: 'message.received', data: { subject: 'Grüße, 東京' } })
    const now = new Date()
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(SECRET).sign('evt_1', now, body),
    }
    const input = JSON.stringify({ apiKey: service.key, body, headers, secret: SECRET })
    expect(await page.evaluate(`program.run(${input})`)).toEqual({
      listed: ['message.received', 'booking.created'],
      streamed: ['message.received', 'booking.created'],
      missing: true,
      aborted: 'left',
      refused: 404,
      type: 'message.received',
      metrics: true,
    })
  })
})
