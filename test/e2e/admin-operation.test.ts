import type { Browser, Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserAvailable, launchBrowser } from '../kit/browser/browser.ts'
import { screenshots } from '../kit/browser/screenshots.ts'
import { eventually } from '../kit/eventually.ts'
import { type Api, api } from '../kit/http/http.ts'
import { type Service, startService } from '../kit/service/service.ts'
import { walkGoogleConnection, walkMicrosoftConnection } from '../scenarios/portal-connections.ts'
import { OPERATOR, type PortalVisit, visitPortal } from '../scenarios/portal-visit.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../servers/dovecot.ts'
import { type Google, startGoogle } from '../servers/google.ts'
import { plainMail } from '../servers/messages.ts'
import { type Microsoft, startMicrosoft } from '../servers/microsoft.ts'
import { type Receiver, startReceiver } from '../servers/receiver.ts'
import { type ReverseProxy, startProxy } from '../servers/reverse-proxy.ts'

const USER = 'ada@acme.example'
const PASSWORD = 'correct horse battery staple'
const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const MEMBER = 'grace@tenant.example'
const HOSTILE = '<img src=x onerror=alert(1)>'

/** The controls that a toast covers, by their text. Those that are scrolled out of the navigation are not behind it. */
const COVERED = `[...document.querySelectorAll('.mantine-Notification-root')].flatMap((toast) =>
  [...document.querySelectorAll('a, button, input')]
    .filter((control) => !toast.contains(control) && control.checkVisibility())
    .filter((control) => {
      const box = control.getBoundingClientRect()
      const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2]
      const scrolled = control.closest('.mantine-ScrollArea-viewport')?.getBoundingClientRect()
      const isScrolledOut = scrolled !== undefined && (y < scrolled.top || y > scrolled.bottom)
      return box.width > 1 && !isScrolledOut && toast.contains(document.elementFromPoint(x, y))
    })
    .map((control) => control.textContent))`

/** Behind a proxy that serves the service below a path: a request to another path of the host is a problem. */
describe.skipIf(!browserAvailable() || !dovecotAvailable())('operation and configuration in the portal', () => {
  const keep = screenshots()
  let browser: Browser
  let dovecot: Dovecot
  let service: Service
  let proxy: ReverseProxy
  let receiver: Receiver
  let microsoft: Microsoft
  let google: Google
  let visit: PortalVisit
  let owner: Api
  let accountId = ''
  beforeAll(async () => {
    dovecot = await startDovecot()
    await dovecot.addUser(USER, PASSWORD)
    await dovecot.deliver(USER, plainMail({ subject: 'Hello' }))
    browser = await launchBrowser()
    proxy = await startProxy('/posthorn')
    receiver = await startReceiver()
    microsoft = await startMicrosoft()
    google = await startGoogle()
    for (const user of [MEMBER, 'alan@tenant.example']) microsoft.addUser(user, { tenant: TENANT })
    const { MICROSOFT_LOGIN_URL = '', MICROSOFT_GRAPH_URL = '' } = microsoft.settings
    const { GOOGLE_TOKEN_URL = '', GOOGLE_API_URL = '' } = google.settings
    service = await startService({
      output: () => {},
      environment: {
        LOG_LEVEL: 'info',
        PUBLIC_URL: proxy.url,
        ADMIN_USERNAME: OPERATOR.username,
        ADMIN_PASSWORD: OPERATOR.password,
        MICROSOFT_LOGIN_URL,
        MICROSOFT_GRAPH_URL,
        GOOGLE_TOKEN_URL,
        GOOGLE_API_URL,
        AUTH_SCREEN_NAME: `Acme ${HOSTILE}`,
      },
    })
    proxy.target = service.url
    owner = api(service.url, service.key)
    visit = await visitPortal({ browser, url: proxy.url, keep })
    const { status: created, json } = await owner.post('/accounts', {
      provider: 'imap',
      email: USER,
      host: dovecot.host,
      port: dovecot.imapsPort,
      secure: true,
      allowSelfSigned: true,
      username: USER,
      password: PASSWORD,
    })
    expect([created, json]).toEqual([200, expect.anything()])
    accountId = json.id
    await eventually(async () => {
      const { status } = (await owner.get(`/accounts/${accountId}`)).json
      if (status !== 'connected') throw new Error(`The account is ${status}.`)
    })
  })
  afterAll(async () => {
    await visit?.close()
    await browser?.close()
    await proxy?.close()
    await receiver?.close()
    await service?.stop()
    await microsoft?.close()
    await google?.close()
    await dovecot?.stop()
  })

  it('leads through the first steps until each is done', async () => {
    const { page, open, inspect } = visit
    await open('')
    await page.getByText('1 of 4 steps are done.').waitFor()
    await inspect('checklist')
    await page.getByRole('link', { name: 'Add an endpoint' }).click()
    await page.getByLabel('URL').fill(receiver.url)
    await page.getByRole('button', { name: 'Add the endpoint' }).click()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await open('')
    await page.getByText('2 of 4 steps are done.').waitFor()
    await page.getByRole('link', { name: 'Send a test event' }).click()
    await page.locator('[data-row]').first().click()
    await page.getByRole('button', { name: 'Send a test event' }).click()
    await page.getByRole('heading', { level: 1, name: 'webhook.test' }).waitFor()
    await open('')
    await page.getByText('3 of 4 steps are done.').waitFor()
    await page.getByRole('link', { name: 'Create an experience' }).click()
    await page.getByLabel('Name').fill('Intro call')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await open('')
    await page.getByText('1 mailbox in sync').waitFor()
    await page.getByText('steps are done').waitFor({ state: 'detached' })
    await inspect('overview of a fresh service')
  })

  it('finds an event without a subscriber, and sends it to an endpoint', async () => {
    const { page, open, inspect } = visit
    await open('/events', 'Events')
    await page.getByRole('combobox', { name: 'Type' }).click()
    await page.getByRole('option', { name: 'account.connected' }).click()
    await page.getByRole('combobox', { name: 'Account' }).click()
    await page.getByRole('option', { name: USER }).click()
    await expect.poll(() => page.url()).toContain(`accountId=${accountId}`)
    await page.getByRole('cell', { name: USER }).first().waitFor()
    await inspect('events of an account')
    await page.locator('[data-row]').first().click()
    await page.getByRole('heading', { level: 1, name: 'account.connected' }).waitFor()
    await page.getByText('No endpoint received this event').waitFor()
    await inspect('event without a subscriber')
    const eventId = new URL(page.url()).pathname.split('/').at(-1)
    await page.getByRole('button', { name: 'Send to an endpoint' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Endpoint' }).click()
    await page.getByRole('option', { name: receiver.url }).click()
    await inspect('replay')
    await dialog.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('A recovery').waitFor()
    await visit.toast('on its way')
    await eventually(async () => {
      const { deliveries } = (await owner.get(`/webhooks/deliveries?eventId=${eventId}`)).json
      expect(deliveries).toMatchObject([{ status: 'success' }])
    })
    const { entries } = (await owner.get('/audit?action=event.replayed')).json
    expect(entries).toMatchObject([{ target: eventId, actor: `admin:${OPERATOR.username}` }])
    await page.getByRole('link', { name: 'The event and all its deliveries' }).click()
    await page.getByRole('row').filter({ hasText: 'Delivered' }).first().waitFor()
    await inspect('event with a delivery')
  })

  it('reaches older events by cursors', async () => {
    const { page, open } = visit
    for (let index = 0; index < 30; index += 1) await owner.post('/webhooks/test-event', { type: 'message.opened' })
    await open('/events?type=message.opened', 'Events')
    await page.getByText('1–25 of 30').waitFor()
    await page.getByRole('button', { name: 'Older' }).click()
    await page.getByText('26–30 of 30').waitFor()
    await page.getByRole('button', { name: 'Newest' }).click()
    await page.getByText('1–25 of 30').waitFor()
    expect(visit.problems).toEqual([])
  })

  it('shows log records of requests only when they are asked for', async () => {
    const { page, open } = visit
    await owner.get('/accounts?q=for-the-log')
    await open('/logs', 'Sync logs')
    await page.locator('[data-row]').first().waitFor()
    expect(await page.locator('[data-row]', { hasText: 'GET /accounts 200' }).count()).toBe(0)
    await page.getByRole('switch', { name: 'HTTP requests' }).press('Space')
    await page.locator('[data-row]', { hasText: 'GET /accounts 200' }).first().waitFor()
    // The requests of the portal itself are not among them.
    expect(await page.locator('[data-row]', { hasText: 'GET /logs' }).count()).toBe(0)
    expect(visit.problems).toEqual([])
  })

  it('fits the navigation on a small desktop, and shows its active item on a lower one', async () => {
    const { page, open, inspect } = visit
    await page.setViewportSize({ width: 1280, height: 800 })
    await open('/settings', 'Settings')
    const links = page.getByLabel('Portal').locator('.nav-link')
    const footer = page.getByRole('button', { name: 'operator' })
    const bottom = async (locator: Locator) => {
      const { y, height } = (await locator.boundingBox()) ?? { y: 0, height: 0 }
      return y + height
    }
    const top = ((await footer.boundingBox()) ?? { y: 0 }).y
    expect(await bottom(links.last())).toBeLessThanOrEqual(top)
    expect((await links.first().boundingBox())?.y).toBeGreaterThan(0)
    await inspect('navigation')
    await page.setViewportSize({ width: 1280, height: 500 })
    await open('/settings', 'Settings')
    const active = page.locator('.nav-link[aria-current=page]')
    await expect.poll(() => bottom(active)).toBeLessThanOrEqual(((await footer.boundingBox()) ?? { y: 0 }).y)
    await page.setViewportSize({ width: 1280, height: 860 })
  })

  it('shows toasts where no control is', async () => {
    const { page, open, inspect } = visit
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 })
      await open(`/accounts/${accountId}`, USER)
      await page.getByRole('button', { name: 'Sync now' }).click()
      const toast = page.locator('.mantine-Notification-root').first()
      // It stays as long as the pointer is over it.
      await toast.hover()
      await expect.poll(() => page.evaluate(COVERED)).toEqual([])
      await inspect('toast')
      // It may have gone by itself meanwhile.
      await toast.waitFor({ state: 'detached' })
    }
    await page.setViewportSize({ width: 1280, height: 860 })
  })

  it('collapses filters into a button with chips on a phone', async () => {
    const { page, open, inspect } = visit
    await page.setViewportSize({ width: 390, height: 800 })
    await open('/deliveries?status=success', 'Deliveries')
    const button = page.getByRole('button', { name: 'Filters', exact: true })
    await button.waitFor()
    expect(await page.getByRole('combobox', { name: 'Endpoint' }).isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Status: Delivered, clear' }).waitFor()
    await inspect('filters collapsed')
    await button.click()
    await page.getByRole('combobox', { name: 'Event' }).click()
    await page.getByRole('option', { name: 'message.opened' }).click()
    await expect.poll(() => page.url()).toContain('eventType=message.opened')
    await inspect('filters open')
    await button.click()
    await page.locator('.filter-chip', { hasText: 'Delivered' }).click()
    await expect.poll(() => page.url()).not.toContain('status=')
    await page.locator('.filter-chip', { hasText: 'message.opened' }).click()
    await page.locator('.filter-chip').waitFor({ state: 'detached' })
    await page.setViewportSize({ width: 1280, height: 860 })
    expect(visit.problems).toEqual([])
  })

  it('starts, restarts and configures backfills, and clears the queue', async () => {
    const { page, open, inspect } = visit
    await open('/backfills')
    await page.getByText('No account has a backfill').waitFor()
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByLabel('Days back').fill('30')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect((await owner.get('/historical-sync/config')).json).toMatchObject({ timeRangeDays: 30, enabled: true })

    await page.getByRole('button', { name: 'Start a backfill' }).first().click()
    await page.getByRole('combobox', { name: 'Accounts' }).click()
    await page.getByRole('option', { name: USER }).click()
    await page.getByText('Reads the mail of the last 30 days.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByRole('button', { name: 'Restart' }).waitFor()
    const first = (await owner.get(`/historical-sync/${accountId}`)).json
    expect(first.status).toBe('completed')
    await inspect('backfills')
    await page.getByRole('button', { name: 'Restart' }).click()
    await expect
      .poll(async () => (await owner.get(`/historical-sync/${accountId}`)).json.startedAt)
      .not.toBe(first.startedAt)

    await open('/queue')
    await page.getByRole('button', { name: `Sync now: ${USER}` }).waitFor()
    await page.locator('td .status').first().waitFor()
    await inspect('queue')
    await page.getByRole('button', { name: 'Clear delays and sync all' }).click()
    await page.getByRole('button', { name: 'Sync all', exact: true }).click()
    await page.getByText('1 account syncs now.').waitFor()
    const { entries } = (await owner.get('/audit?action=queue.cleared')).json
    expect(entries).toMatchObject([{ actor: `admin:${OPERATOR.username}` }])
  })

  it('keeps its cookies below the path of the service', async () => {
    const { page } = visit
    const cookies = await page.context().cookies()
    expect(cookies.map(({ path }) => path).toSorted()).toEqual(['/posthorn', '/posthorn/admin/session'])
  })

  it('creates a key that works, revokes it, and finds both in the audit log', async () => {
    const { page, open, inspect } = visit
    await open('/api-keys')
    await page.getByText('No key yet').waitFor()
    await page.getByRole('button', { name: 'Create a key' }).first().click()
    await page.getByLabel('Name').fill(`Importer ${HOSTILE}`)
    await page.getByRole('checkbox', { name: /^Write/ }).uncheck()
    await page.getByRole('checkbox', { name: /^Read/ }).check()
    await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click()
    const shown = page.getByRole('textbox', { name: 'API key' })
    await shown.waitFor()
    const key = await shown.inputValue()
    const program = api(service.url, key)
    expect((await program.get('/accounts')).status).toBe(200)
    expect((await program.get('/audit')).status).toBe(403)
    await page.getByRole('button', { name: 'I have stored it' }).click()
    const revoke = page.getByRole('button', { name: `Revoke Importer ${HOSTILE}` })
    await revoke.waitFor()
    await inspect('api keys')
    await revoke.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke the key' }).click()
    await page.getByText('No key yet').waitFor()
    await expect.poll(async () => (await program.get('/accounts')).status).toBe(401)

    await open('/audit?since=1')
    await page.getByRole('cell', { name: 'apiKey.' }).first().or(page.getByText('key.').first()).waitFor()
    await inspect('audit')
    await page.locator('[data-row]').first().click()
    await page.getByRole('dialog').getByText('Actor').waitFor()
    await inspect('audit entry')
  })

  it('shows settings, checks providers, and previews values of the hosted pages as they would be parsed', async () => {
    const { page, open, inspect } = visit
    await open('/settings')
    await page.getByText('AUTH_SCREEN_NAME', { exact: true }).waitFor()
    expect(await page.content()).not.toContain(OPERATOR.password)
    await inspect('settings')
    await page.getByLabel('Search name or meaning').fill('retention.audit')
    await page.getByText('RETENTION_AUDIT_DAYS', { exact: true }).waitFor()

    await open('/providers')
    const publicUrl = proxy.url
    await page.getByText(`${publicUrl}/providers/gmail/callback`).waitFor()
    await page.getByRole('button', { name: 'Copy the redirect address for Microsoft' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(`${publicUrl}/providers/microsoft/callback`)
    await page.getByRole('button', { name: 'Validate Google' }).click()
    await page.getByRole('status', { name: 'Checks of Google' }).waitFor()
    await inspect('providers')

    await open('/appearance')
    const frame = page.frameLocator('iframe')
    await frame.getByText(`Acme ${HOSTILE}`).first().waitFor()
    await page.getByLabel('Colour', { exact: true }).fill('red')
    await page.getByText('must be a colour such as #1a6fdb').waitFor()
    await page.getByLabel('Colour', { exact: true }).fill('#8a1c7c')
    await page.getByLabel('Help page').fill('javascript:alert(1)')
    await page.getByText('must be a URL that begins with https:// or http://').waitFor()
    expect(await frame.locator('footer a').count()).toBe(0)
    await page.getByLabel('Help page').fill('https://acme.example/help')
    await frame.locator('footer a[href="https://acme.example/help"]').waitFor()
    await page.getByText('Dark', { exact: true }).click()
    await expect
      .poll(() =>
        frame
          .locator('body')
          .evaluate((body) => body.ownerDocument.defaultView?.getComputedStyle(body).backgroundColor),
      )
      .toBe('rgb(13, 15, 18)')
    await page.getByRole('button', { name: 'Copy the environment' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `AUTH_SCREEN_NAME='Acme ${HOSTILE}'\nAUTH_SCREEN_COLOR='#8a1c7c'\nAUTH_SCREEN_SUPPORT_URL=https://acme.example/help`,
    )
    await inspect('appearance')
  })

  it('connects users of a tenant, and deletes its connection with their accounts', async () => {
    const { page, open, inspect } = visit
    const acme = microsoft.applications.consent(TENANT)
    await open('/connections')
    await page.getByText('No connection yet').waitFor()
    await inspect('no connection')
    await page.getByRole('button', { name: 'Add a connection' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill(`Acme ${HOSTILE}`)
    await dialog.getByLabel('Tenant').fill(TENANT)
    await dialog.getByLabel('Application id').fill(microsoft.client.id)
    const secret = dialog.getByLabel('Client secret', { exact: true })
    await secret.fill('its-id')
    await dialog.getByRole('button', { name: 'Add the connection' }).click()
    await dialog.locator('.mantine-PasswordInput-error', { hasText: 'AADSTS7000215' }).waitFor()
    visit.forgive('400')
    await inspect('refused connection')
    await secret.fill('tenant-secret')
    await dialog.getByRole('button', { name: 'Add the connection' }).click()
    await page.getByRole('heading', { level: 1, name: `Acme ${HOSTILE}` }).waitFor()
    const path = new URL(page.url()).pathname.replace(/^.*\/admin/, '')

    await page.getByRole('cell', { name: 'alan@tenant.example', exact: true }).waitFor()
    await page.getByLabel('Search name or address').fill('grace')
    await page.getByRole('cell', { name: 'alan@tenant.example', exact: true }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: `Connect ${MEMBER}` }).click()
    await visit.toast('Its first sync has started')
    await page.getByRole('link', { name: `Open the account of ${MEMBER}` }).waitFor()
    await page.getByRole('link', { name: '1 account', exact: true }).click()
    await page.getByRole('link', { name: MEMBER, exact: true }).waitFor()
    expect(await page.locator('[data-row]').count()).toBe(1)
    await page.getByRole('link', { name: MEMBER, exact: true }).click()
    await page.getByRole('link', { name: `Acme ${HOSTILE}` }).waitFor()
    await page.locator('.status', { hasText: 'Connected' }).waitFor()
    await inspect('account of a connection')

    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 860 })
      await open('/connections')
      await page.locator('[data-row]').waitFor()
      await inspect(`connections at ${width}`)
      await open(path)
      await page.getByRole('button', { name: 'Connect alan@tenant.example' }).waitFor()
      await inspect(`connection at ${width}`)
    }
    await page.setViewportSize({ width: 1280, height: 860 })
    acme.roles = ['Mail.ReadWrite']
    microsoft.expireAccessTokens()
    await page.reload()
    await page.getByText('The permission for the directory is missing').waitFor()
    visit.forgive('409')
    await inspect('connection without the directory')

    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    const confirm = page.getByRole('button', { name: 'Delete it and 1 account' })
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill(`Acme ${HOSTILE}`)
    await confirm.click()
    await page.getByText('No connection yet').waitFor()
    expect((await owner.get('/connections')).json.connections).toEqual([])
    expect((await owner.get(`/accounts?q=${MEMBER}`)).json.accounts).toEqual([])
    expect(visit.problems).toEqual([])
  })

  it('adds, changes and deletes the connection of a Google Workspace, and says at each field what is wrong', async () => {
    await walkGoogleConnection({ visit, owner, microsoft, google, tenantId: TENANT })
  })

  it('adds, changes and deletes the connection of a tenant with a certificate, then with a secret', async () => {
    await walkMicrosoftConnection({ visit, owner, microsoft, google, tenantId: TENANT })
  })
})
