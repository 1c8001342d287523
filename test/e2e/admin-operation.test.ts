import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserAvailable, launchBrowser } from '../kit/browser/browser.ts'
import { screenshots } from '../kit/browser/screenshots.ts'
import { eventually } from '../kit/eventually.ts'
import { type Api, api } from '../kit/http/http.ts'
import { type Service, startService } from '../kit/service/service.ts'
import { OPERATOR, type PortalVisit, visitPortal } from '../scenarios/portal-visit.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../servers/dovecot.ts'
import { plainMail } from '../servers/messages.ts'
import { type ReverseProxy, startProxy } from '../servers/reverse-proxy.ts'

const USER = 'ada@acme.example'
const PASSWORD = 'correct horse battery staple'
const HOSTILE = '<img src=x onerror=alert(1)>'

/** Behind a proxy that serves the service below a path: a request to another path of the host is a problem. */
describe.skipIf(!browserAvailable() || !dovecotAvailable())('operation and configuration in the portal', () => {
  const keep = screenshots()
  let browser: Browser
  let dovecot: Dovecot
  let service: Service
  let proxy: ReverseProxy
  let visit: PortalVisit
  let owner: Api
  let accountId = ''
  beforeAll(async () => {
    dovecot = await startDovecot()
    await dovecot.addUser(USER, PASSWORD)
    await dovecot.deliver(USER, plainMail({ subject: 'Hello' }))
    browser = await launchBrowser()
    proxy = await startProxy('/posthorn')
    service = await startService({
      environment: {
        PUBLIC_URL: proxy.url,
        ADMIN_USERNAME: OPERATOR.username,
        ADMIN_PASSWORD: OPERATOR.password,
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
    await service?.stop()
    await dovecot?.stop()
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
})
