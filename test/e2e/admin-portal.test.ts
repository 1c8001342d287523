import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Browser, Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserAvailable, launchBrowser } from '../kit/browser/browser.ts'
import { screenshots } from '../kit/browser/screenshots.ts'
import { eventually } from '../kit/eventually.ts'
import { api } from '../kit/http/http.ts'
import { HOSTILE } from '../scenarios/portal-collections.ts'
import { openPortalStage, type PortalStage } from '../scenarios/portal-stage.ts'
import { OPERATOR, type PortalVisit, signIn, visitPortal } from '../scenarios/portal-visit.ts'
import { PORTAL_PAGES } from '../scenarios/portal-walk.ts'
import { dovecotAvailable } from '../servers/dovecot.ts'
import { radicaleAvailable } from '../servers/radicale.ts'

/** What the cells of a row show. */
const cells = (row: Locator) => row.getByRole('cell').allInnerTexts()

/** Once compressed, what a first visit of the overview loads. */
const MAX_FIRST_LOAD = 250_000

describe.skipIf(!browserAvailable() || !dovecotAvailable() || !radicaleAvailable())('the admin portal', () => {
  const keep = screenshots()
  let browser: Browser
  let stage: PortalStage
  let visit: PortalVisit
  beforeAll(async () => {
    browser = await launchBrowser()
    stage = await openPortalStage()
    visit = await visitPortal({ browser, url: stage.url, keep })
  })
  afterAll(async () => {
    await visit?.close()
    await browser?.close()
    await stage?.close()
  })

  it('is served with a strict policy, and its data only with a session', async () => {
    const stranger = api(stage.url)
    for (const path of ['/admin', '/admin/', '/admin/accounts/acc_1?tab=labels']) {
      const { status, headers, text } = await stranger.get(path, { accept: 'text/html' })
      expect([status, headers.get('cache-control'), headers.get('x-frame-options')]).toEqual([200, 'no-store', 'DENY'])
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[^']+'; connect-src 'self'; img-src 'self' data:; frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'$/,
      )
      const script = new URL(/<script type="module" src="([^"]+)"/.exec(text)?.[1] ?? '', stage.url + path)
      const file = await stranger.get(script.pathname, { 'accept-encoding': 'br' })
      expect([file.status, file.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
      expect(file.headers.get('content-encoding')).toBe('br')
    }
    const reads = ['overview', 'delivery-rates', 'activity', 'account-names', `previews/${stage.accounts.ada}/msg_1`]
    for (const path of reads.map((name) => `/admin/${name}`)) {
      expect([path, (await stranger.get(path)).status]).toEqual([path, 401])
    }
    for (const path of ['/admin/nothing', '/admin/assets/nothing.js', '/admin/assets/manifest.json']) {
      expect([path, (await stranger.get(path, { accept: 'application/json' })).status]).toEqual([path, 404])
    }
  })

  it('loads at most 250 kB for the overview, compressed', async () => {
    const loaded: string[] = []
    const { page } = visit
    page.on('response', (response) => {
      const name = /\/admin\/assets\/(.+)$/.exec(response.url())?.[1]
      if (name !== undefined) loaded.push(name)
    })
    await visit.open('', 'Overview')
    await page.locator('svg.chart').nth(1).waitFor()
    const sizes = [...new Set(loaded)].map((name) => gzipSync(readFileSync(`dist/admin/${name}`), { level: 9 }).length)
    const size = sizes.reduce((sum, bytes) => sum + bytes, 0)
    console.log(`The overview loads ${size} bytes.`)
    expect(sizes.length).toBeGreaterThan(3)
    expect(size).toBeLessThan(MAX_FIRST_LOAD)
  })

  it('shows every page without an error, accessible, in light on a desktop', async () => {
    await visit.open('', 'Overview')
    for (const { name, path, heading, shows } of PORTAL_PAGES) {
      await visit.follow(path(stage), heading)
      await shows(visit.page).waitFor()
      await visit.inspect(name)
    }
  })

  it('shows messages without running or loading anything that their senders wrote', async () => {
    const { page } = visit
    const account = `/accounts/${stage.accounts.ada}`
    for (const subject of [/^Hostile </, 'Hostile attachments', 'Spring catalogue']) {
      await visit.open(account, 'ada@acme.example')
      await page.getByRole('button', { name: subject }).click()
      const frame = page.frameLocator('iframe.preview')
      await frame.locator('body').waitFor()
      await page.getByRole('link', { name: 'Download the original message' }).waitFor()
      const element = page.locator('iframe.preview')
      expect(await element.getAttribute('sandbox')).toBe('allow-popups allow-popups-to-escape-sandbox')
    }
    await page.frameLocator('iframe.preview').getByRole('heading', { name: 'Spring catalogue' }).waitFor()
    await visit.inspect('message')
    const preview = await page.locator('iframe.preview').getAttribute('src')
    const { headers } = await stage.api.get(new URL(`${preview}`).pathname)
    expect(headers.get('content-security-policy')).toMatch(
      /^sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'/,
    )
    // By itself, too, the page runs nothing.
    await page.goto(`${preview}`)
    await page.getByRole('heading', { name: 'Spring catalogue' }).waitFor()
    expect(visit.problems).toEqual([])
  })

  it('downloads attachments that browsers would run', async () => {
    const { page } = visit
    await visit.open(`/accounts/${stage.accounts.ada}`, 'ada@acme.example')
    await page.getByRole('button', { name: 'Hostile attachments' }).click()
    const links = page.getByRole('dialog').locator('a[href*="/attachments/"]')
    await links.nth(1).waitFor()
    expect(await links.allTextContents()).toEqual([`${HOSTILE}.svg`, 'page.html'])
    for (const index of [0, 1]) {
      const address = `${await links.nth(index).getAttribute('href')}`
      // Also when the address is opened by itself, where the attribute of the link does not help.
      const other = await page.context().newPage()
      other.on('dialog', (dialog) => visit.problems.push(`a script ran: ${dialog.message()}`))
      const [download] = await Promise.all([other.waitForEvent('download'), other.goto(address).catch(() => {})])
      expect(readFileSync(await download.path(), 'utf8')).toContain('alert(1)')
      expect(other.url()).toBe('about:blank')
      await other.close()
    }
    expect(visit.problems).toEqual([])
  })

  it('shows log records as text, also hostile ones', async () => {
    const { page } = visit
    await visit.open('/logs?operation=hostile.record', 'Sync logs')
    await page.getByText('No record matches').waitFor()
    stage.log.warn(`The server said ${HOSTILE}`, {
      operation: 'hostile.record',
      accountId: HOSTILE,
      error: new Error(`Refused ${HOSTILE}`),
      metadata: { [HOSTILE]: `<svg onload=alert(1)>${HOSTILE}` },
    })
    // The page follows.
    await page.getByRole('button', { name: `The server said ${HOSTILE}` }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(`Refused ${HOSTILE}`).first().waitFor()
    await dialog.getByText('<svg onload=alert(1)>').first().waitFor()
    await visit.inspect('log record')
  })

  it('connects, pauses, resumes, syncs and deletes accounts', async () => {
    const { page } = visit
    await visit.open('/accounts', 'Accounts')
    await page.getByLabel('Search address or user').fill('GRACE')
    await expect.poll(() => page.locator('[data-row]').allTextContents()).toEqual(['grace@acme.example'])
    expect(page.url()).toContain('q=GRACE')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('button', { name: 'Connect a mailbox' }).click()
    await page.getByLabel('Your user').fill('user-hedy')
    await page.getByRole('button', { name: 'Create the link' }).click()
    await page.getByRole('img', { name: 'QR code of the link' }).waitFor()
    const link = await page.getByLabel('Link', { exact: true }).inputValue()
    await page.getByRole('button', { name: 'Copy the link' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(link)
    const code = new URL(link).searchParams.get('session')
    expect((await stage.api.get(`/auth/sessions/${code}`)).json.status).toBe('pending')
    await visit.inspect('link')
    await page.getByRole('button', { name: 'Close', exact: true }).last().click()

    const path = `/accounts/${stage.accounts.grace}`
    const account = async () => (await stage.api.get(path)).json
    await visit.open(path, 'grace@acme.example')
    const choose = async (item: string) => {
      await page.getByRole('button', { name: 'More' }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    await choose('Pause')
    await page.getByText('This account is paused').waitFor()
    expect((await account()).paused).toBe(true)
    await visit.inspect('paused account')
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('This account is paused').waitFor({ state: 'detached' })
    expect((await account()).paused).toBe(false)
    await stage.dovecot.deliver('grace@acme.example', 'Subject: For the sync\r\n\r\nHello\r\n')
    await page.getByRole('button', { name: 'Sync now' }).click()
    // The list follows without a reload.
    await page.getByRole('button', { name: 'For the sync' }).waitFor()
    await page.getByRole('tab', { name: 'Folders' }).click()
    await page.getByLabel(/^Junk/).uncheck()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Chosen for this account.').waitFor()
    await page.getByText('4 STATUS commands a minute').waitFor()
    expect((await account()).folders).toHaveLength(4)

    await visit.open(`/accounts/${stage.accounts.rejected}`, 'linus@acme.example')
    await choose('Delete')
    const remove = page.getByRole('button', { name: 'Delete the account' })
    expect(await remove.isDisabled()).toBe(true)
    await page.getByLabel(/to confirm/).fill('linus@acme.example')
    await remove.click()
    await page.getByRole('heading', { level: 1, name: 'Accounts' }).waitFor()
    expect((await stage.api.get(`/accounts/${stage.accounts.rejected}`)).status).toBe(404)
    expect(visit.problems).toEqual([])
  })

  it('adds, changes, tests, rotates, deactivates and deletes an endpoint', async () => {
    const { page } = visit
    await visit.open('/webhooks', 'Webhooks')
    await page.getByRole('button', { name: 'Add an endpoint' }).click()
    await page.getByLabel('URL').fill('ftp://nowhere')
    await page.getByRole('button', { name: 'Add the endpoint' }).click()
    await page.getByText('The endpoint could not be saved').waitFor()
    visit.forgive('status of 400')
    const { url } = (await stage.api.get(`/webhooks/endpoints/${stage.endpoints.working}`)).json
    await page.getByLabel('URL').fill(`${url}/second`)
    await page.getByLabel('draft.*').check()
    await page.getByRole('button', { name: 'Add the endpoint' }).click()
    const secret = await page.getByLabel('Secret', { exact: true }).inputValue()
    expect(secret).toMatch(/^whsec_/)
    await visit.inspect('secret')
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('heading', { level: 1, name: /second/ }).waitFor()
    const path = `/webhooks/endpoints/${new URL(page.url()).pathname.split('/').at(-1)}`
    const endpoint = async () => (await stage.api.get(path)).json
    expect((await endpoint()).eventTypes.toSorted()).toEqual(['draft.*', 'mailbox.changed', 'message.received'])

    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('All events, also future ones').check()
    await page.getByRole('button', { name: 'Save' }).click()
    await visit.toast('was changed')
    expect((await endpoint()).eventTypes).toEqual(['*'])
    const choose = async (item: string) => {
      await page.getByRole('button', { name: 'More' }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    await choose('Rotate the secret')
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    await expect.poll(() => page.getByLabel('Secret', { exact: true }).inputValue()).toMatch(/^whsec_/)
    expect(await page.getByLabel('Secret', { exact: true }).inputValue()).not.toBe(secret)
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await choose('Deactivate')
    await page.getByText('This endpoint is inactive').waitFor()
    expect((await endpoint()).isActive).toBe(false)
    await page.getByRole('button', { name: 'Send a test event' }).click()
    await page.getByRole('heading', { level: 1, name: 'webhook.test' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: /second/ }).waitFor()
    await choose('Delete')
    await page.getByLabel(/to confirm/).fill(new URL(url).host)
    await page.getByRole('button', { name: 'Delete the endpoint' }).click()
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
    expect((await stage.api.get(path)).status).toBe(404)
    expect(visit.problems).toEqual([])
  })

  it('shows what was sent and what came back, and sends deliveries again', async () => {
    const { page } = visit
    await visit.open('/deliveries', 'Deliveries')
    await page.getByRole('combobox', { name: 'Status' }).click()
    await page.getByRole('option', { name: 'Failed' }).click()
    await expect.poll(() => page.url()).toContain('status=failed')
    await page.locator('[data-row]').first().click()
    await page.getByText('Every attempt has failed').waitFor()
    await page.getByText('Cannot store the event. <img').waitFor()
    await visit.inspect('failed delivery')
    const path = `/webhooks/deliveries/${new URL(page.url()).pathname.split('/').at(-1)}`
    const before = (await stage.api.get(path)).json.attempt
    await page.getByRole('button', { name: 'Copy as curl' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^curl -X POST 'http.*\/broken'/)
    await page.getByRole('button', { name: 'Send again' }).click()
    await eventually(async () => expect((await stage.api.get(path)).json.attempt).toBeGreaterThan(before))
    await visit.open(`/deliveries?recover=1&endpointId=${stage.endpoints.inactive}`, 'Deliveries')
    await page.getByRole('button', { name: 'Recover', exact: true }).click()
    await page.getByText(/are on their way|Nothing was missed/).waitFor()
    expect(visit.problems).toEqual([])
  })

  it('distinguishes deliveries by subject, account, attempts and latency', async () => {
    const { page } = visit
    await visit.open(`/deliveries?eventType=message.received&accountId=${stage.accounts.ada}`, 'Deliveries')
    const row = page.getByRole('row').filter({ hasText: 'The lease is signed' })
    const failed = row.filter({ hasText: 'Failed' })
    await failed.getByText(/All \d failed/).waitFor()
    await failed.getByText('ada@acme.example').waitFor()
    const delivered = row.filter({ hasText: 'Delivered' })
    await delivered.getByText('At once').waitFor()
    await delivered.getByText(/^\d+(\.\d)? m?s$/).waitFor()
  })

  it('does not count test events as received', async () => {
    const count = async () => {
      const { periods } = (await stage.api.get(`/admin/activity?starts=${Date.now() - 86_400_000}`)).json
      return periods[0]
    }
    const before = await count()
    expect(before.received).toBeGreaterThan(0)
    expect(before.failed).toBeGreaterThan(0)
    await stage.api.post('/webhooks/test-event', { type: 'message.received' })
    await stage.dovecot.deliver('ada@acme.example', 'Subject: Counted\r\n\r\nHello\r\n')
    await eventually(async () => expect((await count()).received).toBe(before.received + 1))
  })

  it('decides about messages of the outbox, and sends drafts', async () => {
    const { page } = visit
    const readStatus = async (id: string) => (await stage.api.get(`/outbox/${id}`)).json.status
    const confirm = (question: string, action: string) =>
      page.getByRole('dialog', { name: question }).getByRole('button', { name: action, exact: true }).click()
    await visit.open(`/outbox?open=${stage.outbox.uncertain}`, 'Drafts and outbox')
    await page.getByRole('button', { name: 'It arrived' }).click()
    await eventually(async () => expect(await readStatus(stage.outbox.uncertain)).toBe('sent'))
    await visit.open(`/outbox?open=${stage.outbox.failed}`, 'Drafts and outbox')
    await page.getByRole('button', { name: 'Send again' }).click()
    await confirm('Send this message again?', 'Send again')
    await eventually(async () => expect(await readStatus(stage.outbox.failed)).toBe('sent'))
    await visit.open(`/outbox?open=${stage.outbox.scheduled}`, 'Drafts and outbox')
    await page.getByRole('button', { name: 'Cancel the message' }).click()
    await confirm('Cancel this message?', 'Cancel the message')
    await eventually(async () => expect(await readStatus(stage.outbox.scheduled)).toBe('cancelled'))
    await visit.open(`/outbox?tab=drafts&accountId=${stage.accounts.grace}`, 'Drafts and outbox')
    await page.getByRole('button', { name: 'Dinner on Thursday' }).click()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await confirm('Send this draft?', 'Send')
    await eventually(async () => {
      const { messages } = (await stage.api.get('/outbox')).json
      expect(messages.map(({ subject }: { subject: string }) => subject)).toContain('Dinner on Thursday')
    })
    expect(visit.problems).toEqual([])
  })

  it('says which calendars and events cannot be read, and why', async () => {
    const { page } = visit
    await visit.open(`/accounts/${stage.accounts.ada}?tab=calendars`, 'ada@acme.example')
    await page.getByText('1 event not readable').waitFor()
    await visit.inspect('calendars with problems')
    await page.getByText('Shared meetings').click()
    await page.getByText('This calendar cannot be read at the moment').waitFor()
    await page.getByText('the CalDAV server refused the request (403)').waitFor()
    await visit.inspect('calendar that is refused')
    await page.getByRole('button', { name: 'All calendars' }).click()
    await page.getByText('Work', { exact: true }).click()
    await page.getByText('1 event cannot be read as it is').waitFor()
    await visit.inspect('calendar with an unreadable event')
  })

  it('says which address books and contacts cannot be read, and why', async () => {
    const { page } = visit
    await visit.open(`/accounts/${stage.accounts.ada}?tab=contacts`, 'ada@acme.example')
    const people = page.getByRole('row').filter({ hasText: 'People' })
    await people.getByText('1 contact not readable').waitFor()
    await people.getByText('4', { exact: true }).waitFor()
    expect(await cells(people)).toEqual([
      expect.stringMatching(/^People/),
      '4',
      expect.stringMatching(/now|ago/),
      'Can change',
    ])
    const contacts = page.getByRole('table', { name: 'Contacts' }).locator('tbody tr')
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 860 })
      await visit.inspect(`address books with problems at ${width}`)
      await page.getByRole('button', { name: /^Suppliers/ }).click()
      await page.getByText('This address book cannot be read at the moment').waitFor()
      await page.getByText('the CardDAV server refused the request (403)').waitFor()
      await page.getByText(/Next attempt:/).waitFor()
      await expect.poll(() => contacts.count()).toBe(1)
      await contacts.filter({ hasText: 'Lamps of the North' }).waitFor()
      await visit.inspect(`address book that is refused at ${width}`)
      await page.getByRole('button', { name: 'All address books' }).click()
      await page.getByRole('button', { name: /^People/ }).click()
      await page.getByText('The vCard has more than 20,000 lines.').waitFor()
      await page.getByText('ines@brandt.example +1').waitFor()
      await page.getByText(HOSTILE).waitFor()
      await expect.poll(() => contacts.count()).toBe(4)
      if (width === 1280) {
        const row = contacts.filter({ hasText: 'Ines Brandt' })
        const shown = ['Ines Brandt', 'ines@brandt.example +1', 'Brandt Architects', 'Customers, Friends']
        expect(await cells(row)).toEqual([...shown, expect.stringMatching(/now|ago/)])
      }
      await visit.inspect(`address book with an unreadable contact at ${width}`)
      await page.getByRole('button', { name: 'All address books' }).click()
    }
    await page.setViewportSize({ width: 1280, height: 860 })
  })

  it('asks to sign in when the session ended elsewhere, and continues at the same page', async () => {
    const { page } = visit
    await visit.open(`/accounts/${stage.accounts.ada}?tab=labels`, 'ada@acme.example')
    await page.getByText('Archive').first().waitFor()
    const elsewhere = api(stage.url)
    const { json, headers } = await elsewhere.post('/admin/session', OPERATOR)
    const cookie = headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const ended = await elsewhere.delete('/admin/sessions', { cookie, 'x-csrf-token': json.csrfToken })
    expect(ended.status).toBe(200)
    // Unless the page has noticed by itself.
    await page.evaluate(
      `[...document.querySelectorAll('[role=tab]')].find((tab) => tab.textContent === 'Calendars')?.click()`,
    )
    await page.getByRole('heading', { name: 'Sign in to Posthorn' }).waitFor()
    const address = page.url()
    expect(address).toContain(`/accounts/${stage.accounts.ada}?tab=`)
    await signIn(page)
    await page.getByRole('heading', { level: 1, name: 'ada@acme.example' }).waitFor()
    await page
      .getByText(address.endsWith('calendars') ? 'Work' : 'Archive')
      .first()
      .waitFor()
    expect(page.url()).toBe(address)
    expect(visit.problems.filter((problem) => !problem.includes('status of 401'))).toEqual([])
    visit.problems.length = 0
  })

  it('finds pages and accounts from the keyboard, filters logs, and signs out', async () => {
    const { page } = visit
    await visit.open('', 'Overview')
    await page.keyboard.press('Control+k')
    await page.getByLabel('Go to a page or an account').fill('ada@')
    await page
      .getByRole('button', { name: 'ada@acme.example' })
      .or(page.getByRole('option', { name: /ada@acme/ }))
      .first()
      .waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'ada@acme.example' }).waitFor()
    await expect.poll(() => page.evaluate('document.activeElement?.textContent')).toBe('ada@acme.example')
    await page.getByRole('link', { name: 'Logs', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Sync logs' }).waitFor()
    await page.getByText('Records about').waitFor()
    await page.locator('[data-row]').first().focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText(stage.accounts.ada).first().waitFor()
    await page.keyboard.press('Escape')
    const cookies = await page.context().cookies()
    await page.getByRole('button', { name: 'operator' }).click()
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click()
    await page.getByRole('heading', { name: 'Sign in to Posthorn' }).waitFor()
    await visit.inspect('sign-in')
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    expect((await api(stage.url).get('/accounts', { cookie })).status).toBe(401)
  })
})
