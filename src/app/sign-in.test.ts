import { describe, expect, it } from 'vitest'
import { loadConfig } from '../config/index.ts'
import { type LogFields, silentLog } from '../platform/log/index.ts'
import { systemClock } from '../platform/time/clock.ts'
import { reportSignIn, signIn, signInProblems, signInStates } from './sign-in.ts'

const GOOGLE = { GOOGLE_CLIENT_ID: 'id', GOOGLE_CLIENT_SECRET: 'secret' }
const MICROSOFT = { MICROSOFT_CLIENT_ID: 'id', MICROSOFT_CLIENT_SECRET: 'secret' }

const buildConfig = (environment: Record<string, string>) => loadConfig({ environment, folder: '/nowhere' }).config
const listReasons = (environment: Record<string, string>) =>
  signInProblems(buildConfig(environment)).map(({ reason }) => reason)

describe('the sign-in settings', () => {
  it('enable a provider with a complete client, and report a missing setting', () => {
    const both = signIn(buildConfig({ ...GOOGLE, ...MICROSOFT }), systemClock)
    expect(both).toMatchObject({ gmail: expect.anything(), microsoft: expect.anything() })
    const half = { GOOGLE_CLIENT_ID: 'id', MICROSOFT_CLIENT_SECRET: 'secret' }
    expect(signIn(buildConfig(half), systemClock)).toEqual({ mail: new Map() })
    expect(signInProblems(buildConfig(half)).map(({ message }) => message)).toEqual([
      'Set GOOGLE_CLIENT_SECRET: without it, users cannot connect gmail accounts.',
      'Set MICROSOFT_CLIENT_ID: without it, users cannot connect microsoft accounts.',
    ])
    expect(listReasons({})).toEqual([])
  })

  it.each([
    ['https://mail.example.com/posthorn', []],
    ['http://localhost:8080', []],
    ['http://127.0.0.1:8080', []],
    ['http://mail.example.com', ['redirect_refused', 'redirect_refused']],
    ['http://10.0.0.5:8080', ['redirect_refused', 'redirect_refused']],
    ['https://10.0.0.5', ['redirect_refused']],
    ['https://posthorn.internal', ['redirect_refused']],
  ])('are checked for whether providers accept the redirect to %s', (publicUrl, reasons) => {
    expect(listReasons({ ...GOOGLE, ...MICROSOFT, PUBLIC_URL: publicUrl })).toEqual(reasons)
  })

  it('are not checked for emulators and proxies', () => {
    const emulated = { GOOGLE_AUTH_URL: 'http://127.0.0.1:9/auth', MICROSOFT_LOGIN_URL: 'http://127.0.0.1:9' }
    expect(listReasons({ ...GOOGLE, ...MICROSOFT, ...emulated, PUBLIC_URL: 'http://posthorn.internal' })).toEqual([])
  })

  it('are logged with the exact redirect URI and the problems', () => {
    const config = buildConfig({ ...GOOGLE, PUBLIC_URL: 'http://mail.example.com/posthorn' })
    const providers = signIn(config, systemClock)
    const uri = 'http://mail.example.com/posthorn/providers/gmail/callback'
    expect(signInStates(config, providers)).toEqual([{ name: 'gmail', canConnect: false, redirectUri: uri }])
    const lines: string[] = []
    const record = (message: string, _fields?: LogFields) => void lines.push(message)
    reportSignIn(config, providers, { ...silentLog, info: record, warn: record })
    expect(lines).toEqual([
      `Register this redirect URI at Google: ${uri}`,
      expect.stringContaining(`Google does not accept the redirect URI ${uri}: `),
      expect.stringContaining('Set AUTH_SCREEN_NAME'),
    ])
    expect(lines.join()).not.toContain('secret')
  })

  it('are logged without asking for a name while only this machine can open the pages', () => {
    const lines: string[] = []
    reportSignIn(buildConfig({}), { mail: new Map() }, { ...silentLog, warn: (message) => void lines.push(message) })
    expect(lines).toEqual([])
  })
})
