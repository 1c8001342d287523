import { describe, expect, it } from 'vitest'
import { loadConfig } from '../config/index.ts'
import { type LogFields, silentLog } from '../infra/log/index.ts'
import { systemClock } from '../lib/clock.ts'
import { reportSignIn, signIn, signInProblems, signInStates } from './sign-in.ts'

const GOOGLE = { GOOGLE_CLIENT_ID: 'id', GOOGLE_CLIENT_SECRET: 'secret' }
const MICROSOFT = { MICROSOFT_CLIENT_ID: 'id', MICROSOFT_CLIENT_SECRET: 'secret' }

const configOf = (environment: Record<string, string>) => loadConfig({ environment, folder: '/nowhere' }).config
const reasonsOf = (environment: Record<string, string>) =>
  signInProblems(configOf(environment)).map(({ reason }) => reason)

describe('signing in, as the settings have it', () => {
  it('is there for a provider whose client is complete, and names the setting that is missing', () => {
    expect(Object.keys(signIn(configOf({ ...GOOGLE, ...MICROSOFT }), systemClock))).toEqual(['gmail', 'microsoft'])
    const half = { GOOGLE_CLIENT_ID: 'id', MICROSOFT_CLIENT_SECRET: 'secret' }
    expect(signIn(configOf(half), systemClock)).toEqual({})
    expect(signInProblems(configOf(half)).map(({ message }) => message)).toEqual([
      'GOOGLE_CLIENT_SECRET is not set: gmail accounts cannot be connected.',
      'MICROSOFT_CLIENT_ID is not set: microsoft accounts cannot be connected.',
    ])
    expect(reasonsOf({})).toEqual([])
  })

  it.each([
    ['https://mail.example.com/posthorn', []],
    ['http://localhost:8080', []],
    ['http://127.0.0.1:8080', []],
    ['http://mail.example.com', ['redirect_refused', 'redirect_refused']],
    ['http://10.0.0.5:8080', ['redirect_refused', 'redirect_refused']],
    ['https://10.0.0.5', ['redirect_refused']],
    ['https://posthorn.internal', ['redirect_refused']],
  ])('knows whether people are sent back to %s', (publicUrl, reasons) => {
    expect(reasonsOf({ ...GOOGLE, ...MICROSOFT, PUBLIC_URL: publicUrl })).toEqual(reasons)
  })

  it('leaves emulators and proxies to their own rules', () => {
    const emulated = { GOOGLE_AUTH_URL: 'http://127.0.0.1:9/auth', MICROSOFT_LOGIN_URL: 'http://127.0.0.1:9' }
    expect(reasonsOf({ ...GOOGLE, ...MICROSOFT, ...emulated, PUBLIC_URL: 'http://posthorn.internal' })).toEqual([])
  })

  it('tells the exact redirect address, and what cannot work', () => {
    const config = configOf({ ...GOOGLE, PUBLIC_URL: 'http://mail.example.com/posthorn' })
    const providers = signIn(config, systemClock)
    const uri = 'http://mail.example.com/posthorn/providers/gmail/callback'
    expect(signInStates(config, providers)).toEqual([{ name: 'gmail', canConnect: false, redirectUri: uri }])
    const told: string[] = []
    const tell = (message: string, _fields?: LogFields) => void told.push(message)
    reportSignIn(config, providers, { ...silentLog, info: tell, warn: tell })
    expect(told).toEqual([
      `Google must know this redirect address of the service: ${uri}`,
      expect.stringContaining(`Google does not send people back to ${uri}: `),
    ])
    expect(told.join()).not.toContain('secret')
  })
})
