import { describe, expect, it } from 'vitest'
import { brand, IMAP_FORM_FIELDS, type ImapFormValues, type ImapPage, imapPage, NO_ERRORS, translate } from './index.ts'

const EMPTY = Object.fromEntries(IMAP_FORM_FIELDS.map((name) => [name, ''])) as ImapFormValues
const SERVER = { host: 'imap.example.com', port: '993', username: 'ada@example.com', secure: '' }
const OPEN = '<details class="more" id="settings" open>'

function render(values: Partial<ImapFormValues>, over: Partial<ImapPage> = {}): string {
  const page = {
    action: '/',
    editAction: '/edit',
    session: 'code',
    state: 's',
    hosts: [],
    errors: NO_ERRORS,
    grants: [],
    values: { ...EMPTY, email: 'ada@example.com', ...values },
  }
  return imapPage({ brand: brand({}), nonce: 'n', t: translate('en') }, { ...page, ...over })
}

/** The names of the fields that a user sees before opening the settings. */
function fieldsInSight(page: string): string[] {
  const rest = page.replace(/<details class="more".*?<\/details>/s, '')
  return [...rest.matchAll(/<(?:input|select) (?!type="hidden")[^>]*name="(\w+)"/g)].map(([, name]) => name ?? '')
}

describe('the IMAP page', () => {
  it('asks for the password only when the server was found', () => {
    const page = render(SERVER, { proposed: SERVER })
    expect(fieldsInSight(page)).toEqual(['password'])
    expect(page).toContain('Server: <bdi>imap.example.com</bdi>')
    expect(page).not.toContain(OPEN)
  })

  it('asks for the server, too, when none was found', () => {
    const page = render({ username: 'ada@example.com' })
    expect(fieldsInSight(page)).toEqual(['host', 'password'])
    expect(page).not.toContain(OPEN)
    expect(page).toContain('We could not find the mail server')
  })

  it('does not say that no server was found after the user has entered one', () => {
    expect(render(SERVER)).not.toContain('We could not find the mail server')
  })

  it.each([
    ['another host', { host: 'mail.example.com' }],
    ['another port', { port: '143' }],
    ['another username', { username: 'ada' }],
    ['a folder', { mailbox: 'Work' }],
    ['an encryption', { secure: 'false' }],
    ['any certificate', { allowSelfSigned: 'true' }],
  ])('opens the settings when they contain %s than what was proposed', (_what, changed) => {
    expect(render({ ...SERVER, ...changed }, { proposed: SERVER })).toContain(OPEN)
  })

  it('opens the settings to edit them, and for an error in them', () => {
    expect(render(SERVER, { proposed: SERVER, isEditing: true })).toContain(OPEN)
    const form = { code: 'imap_tls', title: '', text: '', fields: ['host', 'port'] }
    expect(render(SERVER, { proposed: SERVER, errors: { fields: {}, form } })).toContain(OPEN)
    expect(render(SERVER, { proposed: SERVER, errors: { fields: { password: 'x' } } })).not.toContain(OPEN)
    const port = render({ host: 'imap.example.com' }, { errors: { fields: { port: 'x' } } })
    expect(port).toContain(OPEN)
    expect(port).toMatch(/id="port"[^>]* aria-invalid="true" aria-describedby="port-error"/)
  })

  it.each([undefined, SERVER])('keeps every setting while the user chooses a folder', (proposed) => {
    const folders = [{ path: 'INBOX', label: 'INBOX' }]
    const page = render(SERVER, { proposed, folders, passwordToken: 'sealed', entered: ['password'] })
    expect(fieldsInSight(page)).toEqual(['mailbox'])
    for (const name of ['email', 'host', 'port', 'username', 'secure', 'password', 'passwordToken']) {
      expect(page.split(` name="${name}"`)).toHaveLength(name === 'email' ? 3 : 2)
    }
  })

  it('connects with the Enter key: the first button of the form signs in', () => {
    const form = /<form method="post".*?<\/form>/s.exec(render(SERVER, { proposed: SERVER }))?.[0] ?? ''
    const buttons = [...form.matchAll(/<button [^>]*type="submit"[^>]*>/g)].filter(([tag]) => !tag.includes(' form='))
    expect(buttons[0]?.[0]).toContain('class="button primary"')
  })
})

describe('the settings for sending and for the calendar', () => {
  it.each([{ smtpHost: 'smtp.example.com' }, { caldavUrl: 'https://dav.example.com/' }])(
    'open the settings with %j',
    (settings) => {
      expect(render({})).not.toContain(OPEN)
      expect(render(settings)).toContain(OPEN)
    },
  )

  it('open the settings of a connected mailbox when they differ from the stored ones', () => {
    const smtp = { smtpHost: 'smtp.example.com', smtpPort: '465', smtpSecure: '' }
    const proposed = { ...SERVER, ...smtp, caldavUrl: 'https://dav.example.com/' }
    const page = render(proposed, { proposed, isReconnect: true, entered: ['smtpUsername', 'caldavPassword'] })
    expect(page).not.toContain(OPEN)
    for (const name of ['smtpUsername', 'caldavPassword']) {
      expect(page).toMatch(new RegExp(`id="${name}"[^>]* value=""[^>]* placeholder="Already entered"`))
    }
    expect(page).not.toMatch(/id="(smtpPassword|caldavUsername)"[^>]* placeholder/)
    expect(render({ ...proposed, smtpPort: '587' }, { proposed, isReconnect: true })).toContain(OPEN)
  })
})
