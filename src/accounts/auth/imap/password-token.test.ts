import { describe, expect, it } from 'vitest'
import { generateKeyRing, parseKeyRing, sealer } from '../../../platform/crypto/seal.ts'
import { passwordTokens } from './password-token.ts'

const fields = { host: 'imap.example.com', port: '993', username: 'ada', password: ' geheim ', smtpPassword: 'zwei' }
const empty = { ...fields, password: '', smtpPassword: '' }

describe('password tokens', () => {
  const tokens = passwordTokens(sealer(parseKeyRing(generateKeyRing())))
  const token = tokens.make(fields, 'ses_1', 'state')

  it('fill in a password that was left empty, exactly as typed', () => {
    expect(tokens.fill(empty, token, 'ses_1', 'state')).toMatchObject({ password: ' geheim ', smtpPassword: 'zwei' })
  })

  it('do not replace a password that was typed again', () => {
    expect(tokens.fill({ ...empty, password: 'new' }, token, 'ses_1', 'state')).toMatchObject({ password: 'new' })
  })

  it('do not open for another server, username, encryption, certificate choice, session or state', () => {
    for (const change of [
      { host: 'evil.example' },
      { port: '143' },
      { username: 'eve' },
      { smtpHost: 'evil.example' },
      { caldavUrl: 'https://evil.example' },
      { secure: 'false' },
      { allowSelfSigned: 'true' },
      { smtpSecure: 'false' },
    ]) {
      expect(tokens.fill({ ...empty, ...change }, token, 'ses_1', 'state')).toMatchObject({ password: '' })
    }
    expect(tokens.fill(empty, token, 'ses_2', 'state')).toMatchObject({ password: '' })
    expect(tokens.fill(empty, token, 'ses_1', 'other')).toMatchObject({ password: '' })
  })

  it('are not bound to the fields that were invalid, but to all others', () => {
    const free = tokens.make({ ...fields, port: 'x' }, 'ses_1', 'state', ['port', 'mailbox'])
    expect(tokens.fill(empty, free, 'ses_1', 'state')).toMatchObject({ password: ' geheim ' })
    expect(tokens.fill({ ...empty, host: 'evil.example' }, free, 'ses_1', 'state')).toMatchObject({ password: '' })
    const widened = `host ${free}`
    expect(tokens.fill({ ...empty, host: 'evil.example' }, widened, 'ses_1', 'state')).toMatchObject({ password: '' })
  })

  it('hide the password and reject forged tokens', () => {
    expect(Buffer.from(token.split(':')[1] ?? '', 'base64url').includes('geheim')).toBe(false)
    for (const forged of ['', 'k1:a.b.c', 'nonsense', 7, null, ['x']]) {
      expect(tokens.fill(empty, forged, 'ses_1', 'state')).toMatchObject({ password: '' })
    }
  })
})
