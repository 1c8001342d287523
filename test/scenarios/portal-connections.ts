import { X509Certificate } from 'node:crypto'
import type { Locator } from 'playwright-core'
import { expect } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import type { Api } from '../kit/http/http.ts'
import type { Google } from '../servers/google.ts'
import { makeCertificate } from '../servers/microsoft/certificate.ts'
import type { Microsoft } from '../servers/microsoft.ts'
import type { PortalVisit } from './portal-visit.ts'

/** An operator at the connections of a service, whose providers are fakes. */
export interface ConnectionsStage {
  visit: PortalVisit
  owner: Api
  microsoft: Microsoft
  google: Google
  tenantId: string
}

const PHONE = { width: 390, height: 860 }
const DESKTOP = { width: 1280, height: 860 }
const [ADA, BOB, ADMIN] = ['ada@globex.example', 'bob@globex.example', 'root@globex.example']
const MAILBOX_SCOPES = ['gmail.modify', 'calendar.events', 'calendar.readonly']
const ANYTHING_SECRET = /PRIVATE KEY|tenant-secret|second-secret/

/** Adds, changes and deletes the connection of a Google Workspace. */
export async function walkGoogleConnection({ visit, owner, google }: ConnectionsStage): Promise<void> {
  const { page, open, inspect } = visit
  for (const user of [ADA, BOB, ADMIN]) google.addUser(user)
  const workspace = google.delegation.authorise('globex.example', { admins: [ADMIN], scopes: MAILBOX_SCOPES })
  await page.setViewportSize(DESKTOP)
  await open('/connections?create=1')
  const dialog = page.getByRole('dialog')
  const add = dialog.getByRole('button', { name: 'Add the connection' })
  await dialog.getByText('Google Workspace', { exact: true }).click()
  await dialog.getByLabel('Name').fill('Globex')
  const key = dialog.getByLabel('Key of the service account')
  await refused(visit, key, 'Is not JSON.', () => fillAnd(key, 'not JSON', add))
  await refused(visit, key, 'the JSON key of a service account', () => fillAnd(key, '{"installed":{}}', add))
  await chooseKeyFile(dialog, google.delegation.keyFile())
  await expect.poll(() => key.inputValue()).toContain('service_account')
  const admin = dialog.getByLabel('Administrator of the domain')
  await refused(visit, admin, 'no user with this address', () => fillAnd(admin, 'nobody@globex.example', add))
  workspace.scopes = []
  await refused(visit, key, 'Domain-wide delegation', () => fillAnd(admin, ADMIN, add))
  await inspect('Google refuses at 1280')
  await page.setViewportSize(PHONE)
  await inspect('Google refuses at 390')
  await page.setViewportSize(DESKTOP)
  workspace.scopes = MAILBOX_SCOPES
  google.fail({ as: 'unavailable', on: /token$/, times: 1 })
  await add.click()
  await dialog.getByText('The connection could not be added').waitFor()
  visit.forgive('502')
  await inspect('Google is down')
  await add.click()
  await page.getByRole('heading', { level: 1, name: 'Globex' }).waitFor()
  await page.getByText('The permission for the directory is missing').waitFor()
  visit.forgive('409')
  expect(await page.content()).not.toMatch(ANYTHING_SECRET)

  workspace.scopes = [...MAILBOX_SCOPES, 'admin.directory.user.readonly']
  await connectAddress(visit, { refused: 'eve@other.example', connected: ADA })
  const id = new URL(page.url()).pathname.split('/').at(-1)
  await eventually(async () => (await owner.get(`/connections/${id}/users`)).status === 200)
  await page.reload()
  await page.getByRole('link', { name: `Open the account of ${ADA}` }).waitFor()
  forgiveAll(visit, '409')
  for (const [width, size] of Object.entries({ 1280: DESKTOP, 390: PHONE })) {
    await page.setViewportSize(size)
    await inspect(`Google connection at ${width}`)
  }
  await page.setViewportSize(DESKTOP)

  await choose(visit, 'Edit')
  await dialog.getByLabel('Name').fill('Globex Corporation')
  await refused(visit, admin, 'no user with this address', () =>
    fillAnd(admin, 'nobody@globex.example', dialog.getByRole('button', { name: 'Save' })),
  )
  await inspect('edit a connection')
  await fillAnd(admin, '', dialog.getByRole('button', { name: 'Save' }))
  await visit.toast('The connection was changed.')
  await page.getByText('None: the directory is not read').waitFor()
  await page.getByText('The permission for the directory is missing').waitFor()

  workspace.keyIds = ['key-2']
  google.expireAccessTokens()
  const replace = dialog.getByRole('button', { name: 'Replace the secret' })
  await page.getByRole('button', { name: 'Replace the secret' }).first().click()
  const foreign = { ...google.delegation.keyFile('key-2'), client_email: 'other@acme-mail.iam.gserviceaccount.com' }
  await refused(visit, key, 'Must be a key of', () => fillAnd(key, JSON.stringify(foreign), replace))
  forgiveAll(visit, '409')
  await inspect('replace a key')
  await fillAnd(key, JSON.stringify(google.delegation.keyFile('key-2')), replace)
  await visit.toast('The secret was replaced.')
  await page.getByText('key-2', { exact: true }).waitFor()
  await reopensEmpty(visit, key)
  await removeOpened(visit, owner, { name: 'Globex Corporation', accounts: 1 })
}

/** Adds, changes and deletes the connection of a Microsoft 365 tenant, with a certificate and with a secret. */
export async function walkMicrosoftConnection(stage: ConnectionsStage): Promise<void> {
  const { visit, owner, microsoft, tenantId } = stage
  const { page, open, inspect } = visit
  const acme = microsoft.applications.consent(tenantId)
  const [own, other] = [await makeCertificate(), await makeCertificate()]
  await page.setViewportSize(DESKTOP)
  await open('/connections?create=1')
  const dialog = page.getByRole('dialog')
  const add = dialog.getByRole('button', { name: 'Add the connection' })
  const [key, certificate] = [dialog.getByLabel('Private key'), dialog.getByLabel('Certificate', { exact: true })]
  await dialog.getByText('A certificate', { exact: true }).click()
  await key.fill(own.privateKey)
  await certificate.fill(own.certificate)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Add a connection' }).first().click()
  await dialog.getByText('A certificate', { exact: true }).click()
  // What was entered is gone once the dialog is closed.
  expect([await key.inputValue(), await certificate.inputValue()]).toEqual(['', ''])
  await dialog.getByLabel('Name').fill(' Initech ')
  await dialog.getByLabel('Application id').fill(` ${microsoft.client.id} `)
  await key.fill('no key')
  await certificate.fill(own.certificate)
  const tenant = dialog.getByLabel('Tenant')
  await refused(visit, tenant, 'the id or a domain of one tenant', () => fillAnd(tenant, 'common', add))
  await refused(visit, key, 'an RSA key in PEM form', () => fillAnd(tenant, ` ${tenantId} `, add))
  await refused(visit, certificate, 'Does not belong to the private key', () => fillAnd(key, other.privateKey, add))
  await refused(visit, certificate, 'AADSTS700027', () => fillAnd(key, own.privateKey, add))
  await inspect('refused certificate at 1280')
  await page.setViewportSize(PHONE)
  await inspect('refused certificate at 390')
  await page.setViewportSize(DESKTOP)
  acme.certificates.push(own.certificate)
  await add.click()
  await page.getByRole('heading', { level: 1, name: 'Initech' }).waitFor()
  await visit.toast('Initech accepts the credentials.')
  const thumbprint = new X509Certificate(own.certificate).fingerprint256.replaceAll(':', '').toLowerCase()
  const { id, ...stored } = (await owner.get('/connections')).json.connections[0]
  expect(new URL(page.url()).pathname).toMatch(new RegExp(`/connections/${id}$`))
  expect(stored).toMatchObject({
    provider: 'microsoft',
    kind: 'tenant',
    name: 'Initech',
    tenantId,
    clientId: microsoft.client.id,
    thumbprint,
    hasSecret: true,
    status: 'connected',
  })
  const shown = await page.locator('dl.fields').innerText()
  expect(shown).toContain(`Tenant\n${tenantId}`)
  expect(shown).toContain(`Application id\n${microsoft.client.id}`)
  expect(shown).toContain(`Signs in with\nThe certificate ${thumbprint}`)
  expect(await page.content()).not.toMatch(ANYTHING_SECRET)
  for (const [width, size] of Object.entries({ 1280: DESKTOP, 390: PHONE })) {
    await page.setViewportSize(size)
    await inspect(`connection with a certificate at ${width}`)
  }
  await page.setViewportSize(DESKTOP)

  acme.certificates.length = 0
  microsoft.expireAccessTokens()
  await page.reload()
  await page.getByText('The provider refuses the credentials').waitFor()
  await page.getByText('The users could not be read').waitFor()
  forgiveAll(visit, '502')
  await inspect('refused connection page')
  await page.getByRole('button', { name: 'Replace the secret' }).last().click()
  // The connection has a certificate, so another one is expected.
  await key.waitFor()
  await dialog.getByText('A client secret', { exact: true }).click()
  const secret = dialog.getByLabel('Client secret', { exact: true })
  const replace = dialog.getByRole('button', { name: 'Replace the secret' })
  await refused(visit, secret, 'AADSTS7000215', () => fillAnd(secret, 'its-id', replace))
  await inspect('replace a secret')
  await page.setViewportSize(PHONE)
  await inspect('replace a secret at 390')
  await page.setViewportSize(DESKTOP)
  await fillAnd(secret, 'tenant-secret', replace)
  await visit.toast('The secret was replaced.')
  await page.getByText('A client secret', { exact: true }).waitFor()
  await page.getByText('The provider refuses the credentials').waitFor({ state: 'detached' })
  forgiveAll(visit, '502')
  await reopensEmpty(visit, secret)

  await choose(visit, 'Rename')
  const name = dialog.getByLabel('Name')
  await refused(visit, name, 'Must not be empty.', () =>
    fillAnd(name, '   ', dialog.getByRole('button', { name: 'Save' })),
  )
  await fillAnd(name, 'Initech Ltd', dialog.getByRole('button', { name: 'Save' }))
  await visit.toast('The connection was changed.')
  await page.getByRole('heading', { level: 1, name: 'Initech Ltd' }).waitFor()
  await removeOpened(visit, owner, { name: 'Initech Ltd', accounts: 0 })
}

/** Waits until the field says why the service refused it. Nothing else says it. */
async function refused(visit: PortalVisit, field: Locator, text: string, submit: () => Promise<void>): Promise<void> {
  await submit()
  await expect.poll(() => description(field)).toContain(text)
  expect(await visit.page.getByRole('dialog').getByRole('alert').count()).toBe(0)
  visit.forgive('400')
}

/** The directory that cannot be read is read again after each change of the connection. */
function forgiveAll({ problems }: PortalVisit, text: string): void {
  problems.splice(0, problems.length, ...problems.filter((problem) => !problem.includes(text)))
}

/** What screen readers say about a field: its description, and its error. */
function description(field: Locator): Promise<string> {
  return field.evaluate((input) =>
    (input.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map((id: string) => input.ownerDocument.getElementById(id)?.textContent ?? '')
      .join(' '),
  )
}

async function fillAnd(field: Locator, value: string, button: Locator): Promise<void> {
  await field.fill(value)
  await button.click()
}

async function chooseKeyFile(dialog: Locator, file: Record<string, string>): Promise<void> {
  const buffer = Buffer.from(JSON.stringify(file, null, 2))
  await dialog.locator('input[type=file]').setInputFiles({ name: 'key.json', mimeType: 'application/json', buffer })
}

async function choose({ page }: PortalVisit, item: string): Promise<void> {
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: item }).click()
  await page.getByRole('dialog').waitFor()
}

async function connectAddress(visit: PortalVisit, address: { refused: string; connected: string }): Promise<void> {
  const { page, inspect } = visit
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Connect an address' }).click()
  const [email, connect] = [dialog.getByLabel('Address'), dialog.getByRole('button', { name: 'Connect', exact: true })]
  await refused(visit, email, 'Is not', () => fillAnd(email, address.refused, connect))
  await inspect('connect an address')
  await email.fill(address.connected)
  await dialog.getByLabel('Your user').fill('user-4711')
  await connect.click()
  await visit.toast('Its first sync has started')
}

/** A secret that was entered is gone once its dialog is closed. */
async function reopensEmpty({ page }: PortalVisit, field: Locator): Promise<void> {
  expect(await page.content()).not.toMatch(ANYTHING_SECRET)
  await page.getByRole('button', { name: 'Replace the secret' }).first().click()
  expect(await field.inputValue()).toBe('')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

async function removeOpened(
  visit: PortalVisit,
  owner: Api,
  { name, accounts }: { name: string; accounts: 0 | 1 },
): Promise<void> {
  const { page, inspect } = visit
  forgiveAll(visit, '409')
  await choose(visit, 'Delete')
  const dialog = page.getByRole('dialog')
  const confirm = dialog.getByRole('button', {
    name: accounts === 0 ? 'Delete the connection' : 'Delete it and 1 account',
  })
  await inspect(`delete a connection with ${accounts} accounts`)
  if (accounts > 0) {
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill(name)
  }
  await confirm.click()
  await visit.toast(`${name} was deleted.`)
  await eventually(async () => expect((await owner.get('/connections')).json.connections).toEqual([]))
  forgiveAll(visit, '409')
  expect(visit.problems).toEqual([])
}
