import { expect, it } from 'vitest'
import { loadConfig } from '../config/index.ts'
import type { Setting } from '../config/setting.ts'
import { SETTINGS } from '../config/settings/index.ts'
import type { LogEntry } from '../platform/log/index.ts'
import { runtimeContext } from './runtime-context.ts'

const PLANTED: Record<string, string> = {
  DATABASE_URL: 'postgres://posthorn:planted%20db-password@127.0.0.1:5432/posthorn',
  REDIS_URL: 'rediss://default:planted-redis-password@127.0.0.1:6379',
  SERVICE_API_KEY: 'planted-service-api-key-0123456789abcdef',
  ADMIN_PASSWORD: 'planted-admin-password',
  ENCRYPTION_KEYS: `k1:${Buffer.from('planted-encryption-key-012345678').toString('base64')}`,
  SERVICE_LICENSE_KEY: 'planted.licence.key',
  GOOGLE_CLIENT_SECRET: 'planted-google-secret',
  MICROSOFT_CLIENT_SECRET: 'planted-microsoft-secret',
  APPLICATION_CREDENTIALS: JSON.stringify({ private_key: 'planted-private-key', client_email: 'a@b.example' }),
  OAUTH_PROVIDERS: JSON.stringify({ yahoo: { clientId: 'posthorn', clientSecret: 'planted-yahoo-secret' } }),
  OTEL_LOGS_HEADERS: 'authorization=Bearer%20planted-otlp-token,x-team=planted-otlp-team',
}
const TEXTS = [
  'planted%20db-password',
  'planted db-password',
  'planted-redis-password',
  'planted-admin-password',
  PLANTED.SERVICE_API_KEY ?? '',
  Buffer.from('planted-encryption-key-012345678').toString('base64'),
  'planted.licence.key',
  'planted-google-secret',
  'planted-microsoft-secret',
  'planted-private-key',
  'planted-yahoo-secret',
  'planted-otlp-token',
  'planted-otlp-team',
]

it('hides every secret setting in messages, errors, their causes, and metadata', () => {
  const settings: Setting<unknown>[] = Object.values(SETTINGS)
  const secret = settings.filter((setting) => setting.secret)
  expect(secret.map(({ env }) => env).filter((env) => PLANTED[env] === undefined)).toEqual([])

  const entries: LogEntry[] = []
  const environment = { ...PLANTED, PUBLIC_URL: 'https://mail.example.com', LOG_LEVEL: 'trace' }
  const { log, logs } = runtimeContext(loadConfig({ environment, folder: '/nowhere' }), (entry) => entries.push(entry))
  for (const text of TEXTS) {
    const cause = Object.assign(new Error(`cannot use ${text}`), { code: text })
    const error = new Error(`failed with ${text}`, { cause })
    log.error(`Message with ${text}`, {
      error,
      metadata: { url: `x://${text}`, nested: [{ header: text }], [text]: 1 },
    })
    log
      .with({ metadata: { reason: text } })
      .warn('A record with its own fields.', { error: new AggregateError([cause]) })
  }
  const shown = JSON.stringify([entries, logs.select({}, { limit: 1000 }).entries])
  expect(TEXTS.filter((text) => shown.includes(text))).toEqual([])
  expect(shown).toContain('[redacted]')
})
