import { describe, expect, it } from 'vitest'
import { folder } from '../../../../test/kit/hosted.ts'
import { generateKeyRing, parseKeyRing, sealer } from '../../../lib/seal.ts'
import { fieldFaults, formValues, passwordTokens, selectableFolders } from './form.ts'

const fields = { host: 'imap.example.com', port: '993', username: 'ada', password: ' geheim ', smtpPassword: 'zwei' }
const empty = { ...fields, password: '', smtpPassword: '' }

describe('the password between the two steps of the form', () => {
  const tokens = passwordTokens(sealer(parseKeyRing(generateKeyRing())))
  const token = tokens.make(fields, 'ses_1', 'state')

  it('comes back where it was left empty, exactly as typed', () => {
    expect(tokens.fill(empty, token, 'ses_1', 'state')).toMatchObject({ password: ' geheim ', smtpPassword: 'zwei' })
  })

  it('gives way to one that was typed anew', () => {
    expect(tokens.fill({ ...empty, password: 'new' }, token, 'ses_1', 'state')).toMatchObject({ password: 'new' })
  })

  it('does not open for another server, user, session or state', () => {
    for (const change of [
      { host: 'evil.example' },
      { port: '143' },
      { username: 'eve' },
      { smtpHost: 'evil.example' },
      { caldavUrl: 'https://evil.example' },
    ]) {
      expect(tokens.fill({ ...empty, ...change }, token, 'ses_1', 'state')).toMatchObject({ password: '' })
    }
    expect(tokens.fill(empty, token, 'ses_2', 'state')).toMatchObject({ password: '' })
    expect(tokens.fill(empty, token, 'ses_1', 'other')).toMatchObject({ password: '' })
  })

  it('is not in the token for anybody to read, and no other text opens', () => {
    expect(Buffer.from(token.split(':')[1] ?? '', 'base64url').includes('geheim')).toBe(false)
    for (const forged of ['', 'k1:a.b.c', 'nonsense', 7, null, ['x']]) {
      expect(tokens.fill(empty, forged, 'ses_1', 'state')).toMatchObject({ password: '' })
    }
  })
})

describe('the form', () => {
  it('proposes the server of a known address, and never over one that was typed', () => {
    expect(formValues({ email: 'ada@gmx.de' })).toMatchObject({
      host: 'imap.gmx.net',
      port: '993',
      username: 'ada@gmx.de',
    })
    expect(formValues({ email: 'ada@gmx.de', host: 'mail.example', port: 143, username: 'x' })).toMatchObject({
      host: 'mail.example',
      port: '143',
      username: 'x',
    })
  })

  it('shows no password again', () => {
    expect(
      JSON.stringify(formValues({ email: 'a@b.c', password: 'geheim', smtpPassword: 'zwei', caldavPassword: 'drei' })),
    ).not.toMatch(/geheim|zwei|drei/)
  })

  it('says what to do about each fault in its own words', () => {
    expect(
      fieldFaults([
        { path: 'body.port', message: 'must be a number from 1 to 65535' },
        { path: 'body.host', message: 'is required' },
        { path: 'body.other', message: 'is odd' },
      ]).fields,
    ).toEqual({ host: 'Enter the IMAP server.', port: 'The port must be a number from 1 to 65535.' })
  })

  it('offers selectable folders only, INBOX first, ordinary ones before special ones', () => {
    const folders = [
      folder('Trash', 'trash'),
      folder('Work'),
      folder('[Gmail]', null, false),
      folder('Sent', 'sent'),
      folder('Inbox'),
    ]
    expect(selectableFolders(folders).map(({ path }) => path)).toEqual(['Inbox', 'Work', 'Sent', 'Trash'])
  })
})
