import { describe, expect, it } from 'vitest'
import {
  brand,
  IMAP_FORM_FIELDS,
  type ImapFormParts,
  type ImapFormValues,
  imapPage,
  NO_ERRORS,
  translate,
} from './index.ts'

const EMPTY = Object.fromEntries(IMAP_FORM_FIELDS.map((name) => [name, ''])) as ImapFormValues

function render(parts: ImapFormParts, given: Partial<ImapFormValues> = {}, errors = NO_ERRORS): string {
  const page = { action: '/', session: 'code', state: 's', hosts: [], values: { ...EMPTY, ...given }, errors, parts }
  return imapPage({ brand: brand({}), nonce: 'n', t: translate('en') }, page)
}

describe('the optional parts of the IMAP form', () => {
  it('are shown separately', () => {
    const parts = (page: string) => [page.includes('Sending (SMTP)'), page.includes('Calendar (CalDAV)')]
    expect(parts(render({ smtp: true, caldav: false }))).toEqual([true, false])
    expect(parts(render({ smtp: false, caldav: true }))).toEqual([false, true])
  })

  it('open the advanced settings when one of their fields has a value or an error', () => {
    const all = { smtp: true, caldav: true }
    expect(render(all)).not.toContain('<details open>')
    expect(render(all, { smtpHost: 'smtp.example.com' })).toContain('<details open>')
    const page = render(all, {}, { fields: { smtpPort: 'The SMTP port must be a number.' } })
    expect(page).toContain('<details open>')
    expect(page).toMatch(/id="smtpPort"[^>]* aria-invalid="true" aria-describedby="smtpPort-error"/)
  })

  it('keep their values while they are not shown', () => {
    const page = render({ smtp: false, caldav: false }, { smtpHost: 'smtp.example.com' })
    expect(page).toContain('<input type="hidden" name="smtpHost" value="smtp.example.com">')
    expect(page).not.toContain('<details open>')
    expect(page).not.toContain('name="smtpPort"')
  })
})
