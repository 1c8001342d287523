import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { generateKeyRing } from '../platform/crypto/seal.ts'
import { ConfigError, inspectConfig, loadConfig } from './index.ts'
import type { Setting } from './setting.ts'
import { SETTINGS } from './settings/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'posthorn-config-'))
const empty = mkdtempSync(join(tmpdir(), 'posthorn-config-'))
afterAll(() => {
  for (const each of [folder, empty]) rmSync(each, { recursive: true })
})

type Environment = Record<string, string | undefined>

function load(environment: Environment, file?: string) {
  if (file === undefined) return loadConfig({ environment, folder: empty })
  writeFileSync(join(folder, 'service.config.json'), file)
  return loadConfig({ environment, folder })
}

function findErrors(environment: Environment, file?: string): readonly string[] {
  try {
    load(environment, file)
  } catch (error) {
    if (error instanceof ConfigError) return error.errors
    throw error
  }
  return []
}

describe('the source of a setting', () => {
  it('is the default when nothing is set', () => {
    const { config, warnings } = load({})
    expect(config).toMatchObject({
      port: 8080,
      host: '0.0.0.0',
      dataDir: './data',
      publicUrl: 'http://localhost:8080',
      databaseUrl: undefined,
      autoApplyMigrations: true,
      logLevel: 'info',
      logFormat: 'auto',
      adminUsername: 'admin',
      privateTargets: 'loopback',
      formPorts: 'any',
      trustedProxies: [],
      synchronous: 'NORMAL',
      syncInitialMessages: 500,
      syncFolders: [],
      syncCalendarWindow: [1, 12],
      retentionEventsDays: 30,
    })
    expect(warnings).toEqual([])
  })

  it('is the environment, then the file, then the default', () => {
    const file =
      '{ "service": { "port": 9000, "app": { "redirectUrl": "https://app.test/done" }, "migrations": { "autoApply": false } } }'
    expect(load({}, file).config).toMatchObject({
      port: 9000,
      publicUrl: 'http://localhost:9000',
      redirectUrl: 'https://app.test/done',
      autoApplyMigrations: false,
    })
    expect(load({ PORT: '9001', AUTO_APPLY_MIGRATIONS: 'true' }, file).config).toMatchObject({
      port: 9001,
      autoApplyMigrations: true,
    })
  })

  it('has the tuning of Pub/Sub beside its topic, too', () => {
    const block = { maxMessages: 7, ackDeadline: 30, maxRetries: 1 }
    const numbers = { pubsubMaxMessages: 7, pubsubAckDeadline: 30, pubsubMaxRetries: 1 }
    for (const file of [{ cloud: { pubsub: block } }, { pubsub: block, cloud: { pubsub: { maxMessages: 9 } } }]) {
      const { config, warnings } = load({}, JSON.stringify(file))
      expect([config, warnings]).toMatchObject([numbers, []])
    }
    expect(load({ PUBSUB_MAX_MESSAGES: '8' }, JSON.stringify({ cloud: { pubsub: block } })).config).toMatchObject({
      pubsubMaxMessages: 8,
    })
    expect(() => load({}, '{ "cloud": { "pubsub": { "maxRetries": -1 } } }')).toThrow('cloud.pubsub.maxRetries in')
  })

  it('counts an empty variable as absent', () => {
    expect(load({ PORT: '', LOG_LEVEL: '  ', DATABASE_URL: '' }).config).toMatchObject({ port: 8080, logLevel: 'info' })
  })

  it('reads comments, trailing commas and references to the environment', () => {
    const file = `{
      // the application
      "service": { "apiKey": "env:MY_KEY", "network": { "trustedProxies": ["env:PROXY", "10.0.0.0/8"] }, },
      "sync": { "folders": ["Archive", "Lists/Dev"], /* IMAP only */ "calendarWindow": [0, 6] },
    }`
    expect(load({ MY_KEY: 'abc', PROXY: '::1' }, file).config).toMatchObject({
      serviceApiKey: 'abc',
      trustedProxies: ['::1', '10.0.0.0/8'],
      syncFolders: ['Archive', 'Lists/Dev'],
      syncCalendarWindow: [0, 6],
    })
    expect(findErrors({ PROXY: '::1' }, file)).toEqual([
      'service.apiKey in service.config.json (SERVICE_API_KEY) refers to MY_KEY, which the environment does not define.',
    ])
  })

  it('is the file that SERVICE_CONFIG names', () => {
    writeFileSync(join(folder, 'other.json'), '{ "service": { "port": 9100 } }')
    expect(load({ SERVICE_CONFIG: join(folder, 'other.json') }).config.port).toBe(9100)
    expect(findErrors({ SERVICE_CONFIG: '/nowhere/x.json' })).toEqual([
      'Cannot read the settings file /nowhere/x.json (ENOENT). Check SERVICE_CONFIG and the permissions.',
    ])
  })

  it.each([
    'http://localhost:9000',
    'http://127.0.0.1',
    'http://127.8.8.8/mail',
    'http://[::1]:80',
    'http://mail.localhost',
  ])('allows local targets and every form port while PUBLIC_URL is %s', (publicUrl) => {
    const { config } = load({ PUBLIC_URL: publicUrl, NODE_ENV: 'production' })
    expect(config).toMatchObject({ privateTargets: 'loopback', formPorts: 'any' })
  })

  it.each([
    'https://mail.example.com',
    'http://10.0.0.5:8080',
    'https://localhost.example.com',
    'https://127.0.0.1.example.com',
    'http://[::2]',
  ])('is strict while PUBLIC_URL is %s, whatever NODE_ENV says', (publicUrl) => {
    const { config } = load({ PUBLIC_URL: publicUrl, NODE_ENV: 'development' })
    expect(config).toMatchObject({ privateTargets: 'none', formPorts: [143, 993, 25, 465, 587, 443] })
  })
})

describe('an error', () => {
  it('names every invalid setting at once and never shows a value', () => {
    const errors = findErrors(
      {
        PORT: '80x80',
        DATABASE_URL: 'mysql://joe:hunter22@db/x',
        ENCRYPTION_KEYS: 'k1:hunter22',
        PUBLIC_URL: 'https://joe:hunter22@app.test',
        TRUSTED_PROXIES: '10.0.0.0/8,hunter22',
        APP_REDIRECT_URL: 'javascript:hunter22',
        SERVICE_API_KEY: 'x',
        FORM_PORTS: '993,hunter22',
        SYNC_CALENDAR_WINDOW: '1,25',
      },
      '{ "service": { "log": { "level": "hunter22" }, "migrations": { "autoApply": "hunter22" } } }',
    )
    expect(errors).toEqual([
      'PORT must be a whole number from 0 to 65535.',
      'PUBLIC_URL must be a URL that begins with http:// or https://, without user, query or fragment.',
      expect.stringMatching(/^APP_REDIRECT_URL must be an absolute URL/),
      'DATABASE_URL must be a URL that begins with postgres:// or postgresql://.',
      'service.migrations.autoApply in service.config.json (AUTO_APPLY_MIGRATIONS) must be true or false.',
      expect.stringMatching(/^ENCRYPTION_KEYS must be keys such as/),
      'FORM_PORTS must be any, or a list of ports such as 143,993.',
      expect.stringMatching(/^TRUSTED_PROXIES must be a comma-separated list/),
      'SYNC_CALENDAR_WINDOW must be two numbers of months, the first from 0 to 24, the second from 1 to 24.',
      'service.log.level in service.config.json (LOG_LEVEL) must be one of trace, debug, info, warn, error, fatal.',
    ])
    expect(errors.join()).not.toContain('hunter22')
  })

  it('is a file that is not JSON, with the line', () => {
    expect(findErrors({}, '{\n  "service": {\n    "port" 1\n  }\n}')[0]).toMatch(/^service.config.json, line 3: /)
    expect(findErrors({}, '[]')).toEqual(['service.config.json must contain one JSON object.'])
    expect(findErrors({}, '')).toEqual([])
  })

  it('is a shared database without SERVICE_API_KEY', () => {
    expect(findErrors({ DATABASE_URL: 'postgres://db/x' })).toEqual([
      'SERVICE_API_KEY is missing. With DATABASE_URL, give every instance the same key.',
    ])
    expect(findErrors({ DATABASE_URL: 'postgres://db/x', SERVICE_API_KEY: 'k'.repeat(32) })).toEqual([])
  })

  it('is a SERVICE_API_KEY that can be guessed, and only a warning on a loopback PUBLIC_URL', () => {
    const tooShort = 'x'.repeat(31)
    const message =
      'SERVICE_API_KEY has fewer than 32 characters and can be guessed.\n    Set a random key, such as the output of: openssl rand -hex 32'
    expect(findErrors({ SERVICE_API_KEY: tooShort, PUBLIC_URL: 'https://mail.app.test' })).toEqual([message])
    expect(findErrors({ SERVICE_API_KEY: `${tooShort}x`, PUBLIC_URL: 'https://mail.app.test' })).toEqual([])
    expect(load({ SERVICE_API_KEY: tooShort }).warnings).toEqual([message])
    expect(load({ SERVICE_API_KEY: tooShort, PUBLIC_URL: 'http://127.0.0.1:8080' }).warnings).toEqual([message])
    expect(load({ SERVICE_API_KEY: `${tooShort}x` }).warnings).toEqual([])
  })

  it('is a SERVICE_API_KEY of three keys, or of two of which one can be guessed', () => {
    const [old, fresh] = ['o'.repeat(32), 'n'.repeat(32)]
    const publicUrl = { PUBLIC_URL: 'https://mail.app.test' }
    expect(findErrors({ SERVICE_API_KEY: `${fresh}, ${old}`, ...publicUrl })).toEqual([])
    expect(load({ SERVICE_API_KEY: `${fresh}, ${old},` }).config.serviceApiKey).toBe(`${fresh},${old}`)
    expect(load({}, `{"service": {"apiKey": ["${fresh}", "${old}"]}}`).config.serviceApiKey).toBe(`${fresh},${old}`)
    expect(findErrors({ SERVICE_API_KEY: `${fresh},short`, ...publicUrl })).toEqual([
      expect.stringContaining('SERVICE_API_KEY has fewer than 32 characters'),
    ])
    expect(findErrors({ SERVICE_API_KEY: `${fresh},${old},${old}` })).toEqual([
      'SERVICE_API_KEY must be one key, or two keys separated by a comma.',
    ])
    expect(JSON.stringify(load({ SERVICE_API_KEY: `${fresh},${old}` }).settings)).not.toContain('nnnn')
  })

  it('is an export batch greater than its queue', () => {
    expect(findErrors({ OTEL_LOGS_MAX_QUEUE_SIZE: '100' })).toEqual([
      'OTEL_LOGS_MAX_EXPORT_BATCH_SIZE must not be greater than OTEL_LOGS_MAX_QUEUE_SIZE.',
    ])
  })
})

describe('a warning', () => {
  it('names a password of the portal that can be guessed', () => {
    const { warnings } = load({ ADMIN_PASSWORD: 'hunter22' })
    expect(warnings).toEqual(['ADMIN_PASSWORD has fewer than 12 characters and can be guessed. Set a longer one.'])
    expect(load({ ADMIN_PASSWORD: 'x'.repeat(12) }).warnings).toEqual([])
  })

  it('says that links do not work elsewhere when instances share a database without PUBLIC_URL', () => {
    const shared = { DATABASE_URL: 'postgres://db/x', SERVICE_API_KEY: 'k'.repeat(32) }
    expect(load(shared).warnings).toContain(
      'PUBLIC_URL is a loopback address: the links work only on this machine, and the service may connect to local targets. Set PUBLIC_URL.',
    )
    expect(load({ ...shared, PUBLIC_URL: 'https://mail.example.com' }).warnings).toEqual([])
  })

  it('names variables that look like misspelled settings, and no others', () => {
    const others = {
      HOME: '/root',
      HOSTNAME: 'a',
      PWD: '/',
      PATH: '/bin',
      LANG: 'C',
      TERM: 'xterm',
      REDIS_TLS_URL: 'x',
    }
    const typed = { DATABSE_URL: 'x', PUBLIC_ULR: 'x', SERVICE_CONFG: 'x', LOG_LEVL: 'debug', GOOGLE_CLIENT_IDS: 'x' }
    expect(load({ ...others, ...typed, GOOGLE_CLIENT_ID: 'x', GOOGLE_CLIENT_SECRET: 'y' }).warnings).toEqual(
      [
        ['DATABSE_URL', 'DATABASE_URL'],
        ['PUBLIC_ULR', 'PUBLIC_URL'],
        ['SERVICE_CONFG', 'SERVICE_CONFIG'],
        ['LOG_LEVL', 'LOG_LEVEL'],
      ].map(([name, suggestion]) => `${name} is not a setting and does nothing. Did you mean "${suggestion}"?`),
    )
  })

  it('names settings that contradict each other', () => {
    expect(
      load({ DATABASE_MAX_CONNECTIONS: '30', PUBLIC_URL: 'http://mail.app.test', PUBSUB_TOPIC_NAME: 'x' }).warnings,
    ).toEqual([
      expect.stringMatching(/^PUBSUB_TOPIC_NAME, PUBSUB_SUBSCRIPTION_NAME and APPLICATION_CREDENTIALS belong together/),
      'DATABASE_MAX_CONNECTIONS has no effect without DATABASE_URL. Remove it, or set DATABASE_URL.',
      'PUBLIC_URL begins with http://: passwords and keys are sent unencrypted. Use https.',
    ])
  })

  it('names unknown paths in the file and incomplete pairs', () => {
    const file = '{ "service": { "app": { "redirctUrl": "https://app.test" } }, "google": { "clientId": "x" } }'
    expect(load({}, file).warnings).toEqual([
      'service.config.json: service.app.redirctUrl is not a setting and does nothing. Did you mean "service.app.redirectUrl"?',
      'GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET belong together. Accounts can only be connected when both are set.',
    ])
  })
})

describe('an inspection', () => {
  const inspect = (environment: Environment) => inspectConfig({ environment, folder: empty })
  const findShown = (
    { settings }: { settings: { variable: string; value: string | null; source: string }[] },
    name: string,
  ) => {
    const found = settings.find(({ variable }) => variable === name)
    return [found?.source, found?.value]
  }

  it('shows every setting with its source, and no secret', () => {
    writeFileSync(
      join(folder, 'service.config.json'),
      '{ "sync": { "folders": ["Archive", "own"] }, "service": { "apiKey": "env:MY_KEY" } }',
    )
    const secret = 'hunter22hunter22hunter22hunter22'
    const found = inspectConfig({
      folder,
      environment: {
        MY_KEY: secret,
        DATABASE_URL: `postgres://joe:${secret}@db.internal:5433/mail?password=${secret}`,
        REDIS_URL: `rediss://:${secret}@cache.internal`,
        GOOGLE_CLIENT_SECRET: secret,
        GOOGLE_TOKEN_URL: `https://joe:${secret}@proxy.internal/token?key=${secret}`,
        SYNC_CALENDAR_WINDOW: '0,6',
      },
    })
    expect(JSON.stringify(found.settings)).not.toContain('hunter22')
    expect(found.settings.map(({ variable }) => variable)).toEqual(Object.values(SETTINGS).map(({ env }) => env))
    const shown = {
      SERVICE_API_KEY: ['file', '***'],
      DATABASE_URL: ['environment', 'postgres://***@db.internal:5433/mail?***'],
      REDIS_URL: ['environment', 'rediss://***@cache.internal'],
      GOOGLE_CLIENT_SECRET: ['environment', '***'],
      GOOGLE_TOKEN_URL: ['environment', 'https://***@proxy.internal/token?***'],
      SYNC_FOLDERS: ['file', 'Archive,own'],
      SYNC_CALENDAR_WINDOW: ['environment', '0,6'],
      PUBLIC_URL: ['default', 'http://localhost:8080'],
      ENCRYPTION_KEYS: ['generated', '***'],
      ADMIN_PASSWORD: ['default', null],
      APP_REDIRECT_URL: ['default', null],
    }
    for (const [name, expected] of Object.entries(shown))
      expect([name, findShown(found, name)]).toEqual([name, expected])
    expect(findShown(inspect({}), 'SERVICE_API_KEY')).toEqual(['generated', '***'])
  })

  it('reports errors instead of throwing, and shows no invalid value', () => {
    const found = inspect({ PORT: 'x', HOST: '::1', DATABSE_URL: 'x' })
    expect(found.errors).toEqual(['PORT must be a whole number from 0 to 65535.'])
    expect(found.config).toBeUndefined()
    expect([findShown(found, 'PORT'), findShown(found, 'HOST')]).toEqual([
      ['environment', null],
      ['environment', '::1'],
    ])
    expect(found.warnings).toHaveLength(1)
  })
})

describe('values', () => {
  it('are parsed in their usual spellings', () => {
    expect(
      load({
        PUBLIC_URL: 'https://App.Test/mail/',
        AUTO_APPLY_MIGRATIONS: 'No',
        LOG_LEVEL: 'WARN',
        SYNC_FOLDERS: ' Archive , Lists/Dev ,',
        OTEL_LOGS_HEADERS: 'authorization=Bearer%20abc,x=1=2',
        ENCRYPTION_KEYS: generateKeyRing(),
        PRIVATE_TARGETS: 'mail.internal, 10.0.0.0/8, ::1',
        FORM_PORTS: '993, 10993',
        GOOGLE_SCOPES: 'gmail.readonly  https://www.googleapis.com/auth/calendar.readonly',
        MICROSOFT_SCOPES: 'Mail.Read,Calendars.Read',
        APP_REDIRECT_URL: 'myapp://done',
      }).config,
    ).toMatchObject({
      publicUrl: 'https://app.test/mail',
      autoApplyMigrations: false,
      logLevel: 'warn',
      syncFolders: ['Archive', 'Lists/Dev'],
      otelLogsHeaders: { authorization: 'Bearer abc', x: '1=2' },
      privateTargets: 'mail.internal,10.0.0.0/8,::1',
      formPorts: [993, 10_993],
      googleScopes: ['gmail.readonly', 'https://www.googleapis.com/auth/calendar.readonly'],
      microsoftScopes: ['Mail.Read', 'Calendars.Read'],
      redirectUrl: 'myapp://done',
    })
  })

  it('of credentials may be an object in the file', () => {
    const file =
      '{ "cloud": { "pubsub": { "topicName": "t", "subscriptionName": "s", "credentials": { "client_email": "a@b" } } } }'
    expect(load({}, file)).toMatchObject({
      config: { pubsubTopicName: 't', applicationCredentials: '{"client_email":"a@b"}' },
      warnings: [],
    })
  })
})

describe('the table', () => {
  it('declares every variable and path once, with a description', () => {
    const all = Object.values(SETTINGS)
    expect(new Set(all.map((setting) => setting.env)).size).toBe(all.length)
    const paths = all.flatMap(({ path, aliases = [] }: Setting<unknown>) => [path, ...aliases])
    expect(new Set(paths).size).toBe(paths.length)
    for (const setting of all) expect(setting.about).toMatch(/^[A-Z].*\.$/)
  })

  it('documents only settings that the service reads', () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.startsWith('config/'))
      .map((path) => readFileSync(join('src', path), 'utf8'))
      .join()
    const words = new Set(sources.match(/\w+/g))
    const settings: [string, Setting<unknown>][] = Object.entries(SETTINGS)
    const unread = settings.flatMap(([key]) => (words.has(key) ? [] : key))
    expect(unread).toEqual([])
    const documented = readFileSync('docs/settings.md', 'utf8') + readFileSync('.env.example', 'utf8')
    for (const [, { env }] of settings) {
      expect([env, new RegExp(`\\b${env}\\b`).test(documented)]).toEqual([env, true])
    }
  })
})
