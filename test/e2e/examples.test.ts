import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { POST } from '../../examples/nextjs-route-handler/route.ts'
import { type Stage, startStage } from '../../sdk/test/stage.ts'
import { browserAvailable, launchBrowser } from '../kit/browser/browser.ts'
import { closing } from '../kit/closing.ts'
import { eventually } from '../kit/eventually.ts'
import { dovecotAvailable } from '../servers/dovecot.ts'

/** An example in its own process. */
interface Example {
  /** The address that it printed. */
  url: string
  output(): string
  /** Its exit code. */
  ended: Promise<number | null>
}

describe.skipIf(!dovecotAvailable() || !browserAvailable())('the example', () => {
  let stage: Stage
  let browser: Browser
  beforeAll(async () => {
    ;[stage, browser] = await Promise.all([startStage(['Lunch', '<b>Invoice</b> & more']), launchBrowser()])
  })
  afterAll(async () => {
    await browser?.close()
    await stage?.close()
  })

  /** Starts an example with the settings that its first lines name. */
  function start(file: string, args: readonly string[] = [], env: Record<string, string> = {}): Example {
    const child = spawn(process.execPath, ['--import', 'tsx', `examples/${file}`, ...args], {
      env: {
        PATH: process.env.PATH,
        PORT: '0',
        POSTHORN_URL: stage.service.url,
        POSTHORN_API_KEY: stage.service.key,
        ...env,
      },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    onTestFinished(async () => stop(child))
    return {
      get url() {
        return /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0] ?? ''
      },
      output: () => output,
      ended: once(child, 'exit').then(([code]) => code),
    }
  }

  async function stop(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  /** A page that fails the test when the browser refuses or reports something. */
  async function open(url: string): Promise<Page> {
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    const page = await context.newPage()
    page.on('console', (message) => {
      if (message.type() === 'error') throw new Error(message.text())
    })
    page.on('pageerror', (error) => {
      throw error
    })
    await page.goto(url)
    return page
  }

  /** An endpoint at this address, and its secret. */
  async function subscribe(url: string): Promise<string> {
    const endpoint = await stage.posthorn.endpoints.create({ url, eventTypes: ['message.received'] })
    onTestFinished(async () => void (await stage.posthorn.endpoints.delete(endpoint.id)))
    return endpoint.secret ?? ''
  }

  it('express-receiver receives each event once, and refuses what is not signed', async () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const example = start('express-receiver/server.mjs', [], { POSTHORN_WEBHOOK_SECRET: secret })
    const url = await eventually(() => example.url !== '' && `${example.url}/webhooks`)
    const { id } = await stage.posthorn.endpoints.create({ url: String(url), secret, eventTypes: ['message.received'] })
    onTestFinished(async () => void (await stage.posthorn.endpoints.delete(id)))
    await stage.deliver('To Express')
    await eventually(() => example.output().includes(': To Express'))
    // Its result is stored once the example has responded.
    const delivery = await eventually(async () => {
      const [sent] = (await stage.posthorn.deliveries.list({ endpointId: id, status: 'success' })).items
      if (sent === undefined) throw new Error('no result is stored')
      return sent
    })
    await stage.posthorn.deliveries.retry(delivery.id)
    await eventually(async () => (await stage.posthorn.deliveries.get(delivery.id)).attempts.length === 2)
    expect(example.output().match(/: To Express/g)).toHaveLength(1)
    const forged = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    expect((await fetch(String(url), forged)).status).toBe(401)
  })

  it('nextjs-route-handler receives the deliveries of the service', async () => {
    const statuses: number[] = []
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const headers = request.headers as Record<string, string>
      const { status } = await POST(new Request('http://app', { method: 'POST', headers, body: Buffer.concat(chunks) }))
      statuses.push(status)
      response.writeHead(status).end()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closing({ close: async () => void server.close() })
    const secret = await subscribe(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    process.env.POSTHORN_WEBHOOK_SECRET = secret
    onTestFinished(() => void delete process.env.POSTHORN_WEBHOOK_SECRET)
    await stage.deliver('To Next.js')
    await eventually(() => statuses.length > 0)
    expect(statuses).toEqual([204])
    expect((await POST(new Request('http://app', { method: 'POST', body: '{}' }))).status).toBe(401)
  })

  it('send-and-follow sends the file, and ends when it was sent or refused', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'posthorn-example-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const file = join(folder, 'offer.pdf')
    await writeFile(file, '%PDF-1.4')
    const args = [stage.accountId, 'ar@northwind.example', file]
    const sent = start('send-and-follow/send.mjs', args)
    expect([await sent.ended, sent.output()]).toEqual([0, expect.stringContaining('sent with offer.pdf')])
    stage.smtp.behave({ recipient: () => 550 })
    onTestFinished(() => stage.smtp.behave({}))
    const refused = start('send-and-follow/send.mjs', args)
    expect([await refused.ended, refused.output()]).toEqual([1, expect.stringContaining('refused: ')])
  })

  it('booking-callbacks offers its hours, and decides about bookings', async () => {
    const example = start('booking-callbacks/server.mjs', [], { CALLBACK_SECRET: 'a secret of the application' })
    const slug = await eventually(() => /\/book\/(\S+)/.exec(example.output())?.[1] ?? false)
    const range = { start: '2030-01-07T00:00:00Z', end: '2030-01-08T00:00:00Z' }
    const { slots } = await stage.posthorn.slots.list(String(slug), { range, durationMinutes: 30 })
    expect(slots.map(({ start }) => start.slice(11, 16))).toEqual(['09:00', '10:00', '14:00'])
    const [slot, other] = slots
    const book = (email: string, chosen = slot) =>
      stage.posthorn.bookings.create(String(slug), { slot: { ...chosen }, guest: { email, name: 'Grace' } } as never)
    expect(await book('grace@acme.example')).toMatchObject({ status: 'confirmed' })
    await expect(book('grace@gmail.com', other)).rejects.toMatchObject({ status: 409, code: 'slot_unavailable' })
    const forged = { method: 'POST', body: '{}' }
    const { availabilityEndpoint } = (await stage.posthorn.experiences.get(String(slug))) as {
      availabilityEndpoint: { url: string }
    }
    expect((await fetch(availabilityEndpoint.url, forged)).status).toBe(401)
  })

  it('strict-csp shows free times without a report of the browser', async () => {
    const day = { start: '00:00', end: '23:30' }
    const site = start('strict-csp/server.mjs', [], { SLUG: 'intro-call' })
    const origin = String(await eventually(() => site.url !== '' && site.url))
    await stage.posthorn.experiences.create({
      name: 'Intro call',
      slug: 'intro-call',
      timezone: 'UTC',
      defaultAccountIds: [stage.accountId],
      allowedOrigins: [origin],
      availability: {
        checkCalendars: 'stored',
        openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], ...day }],
      } as never,
    })
    const page = await open(origin)
    const frame = page.frameLocator('iframe')
    await frame.getByRole('button').first().waitFor()
    expect(await frame.locator('body').innerText()).toContain('Intro call')
  })

  it('inbox lists, searches, shows, downloads and replies', async () => {
    const example = start('inbox/server.mjs', [stage.accountId])
    const url = String(await eventually(() => example.url !== '' && example.url))
    const page = await open(url)
    await page.getByRole('textbox').fill('more')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.waitForURL(/q=more/)
    expect(await page.getByRole('listitem').count()).toBe(1)
    await page.getByRole('link', { name: '<b>Invoice</b> & more' }).click()
    await page.getByRole('heading', { name: '<b>Invoice</b> & more' }).waitFor()
    expect(await page.locator('pre').innerText()).toContain('See the attachment.')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'invoice.pdf' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('invoice.pdf')
    await page.getByRole('textbox', { name: 'Reply' }).fill('Thank you.')
    await page.getByRole('button', { name: 'Reply' }).click()
    await page.waitForURL(`${url}/`)
    await eventually(() => stage.smtp.messages.some(({ raw }) => raw.includes('Subject: Re: <b>Invoice</b> & more')))
    const foreign = await fetch(`${url}/messages/msg_1/reply`, { method: 'POST', body: 'body=x' })
    expect(foreign.status).toBe(404)
  })
})
