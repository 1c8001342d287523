import * as kinds from '../kinds.ts'
import { setting } from '../setting.ts'

/** The server, its store, its secrets and what it may reach. */
export const serviceSettings = {
  port: setting({
    env: 'PORT',
    path: 'service.port',
    kind: kinds.integer(0, 65_535),
    fallback: 8080,
    about: 'Port of the HTTP server; 0 takes a free one.',
  }),
  host: setting({
    env: 'HOST',
    path: 'service.host',
    kind: kinds.text,
    fallback: '0.0.0.0',
    about: 'Address the HTTP server listens on.',
  }),
  publicUrl: setting({
    env: 'PUBLIC_URL',
    path: 'service.app.publicUrl',
    kind: kinds.baseUrl,
    fallback: { text: 'http://localhost:PORT', of: ({ port }) => `http://localhost:${port}` },
    about:
      'Address under which browsers reach the service; every link and OAuth redirect is built from it. May have a path, which the proxy strips.',
  }),
  redirectUrl: setting({
    env: 'APP_REDIRECT_URL',
    path: 'service.app.redirectUrl',
    kind: kinds.redirectTarget,
    fallback: undefined,
    about: 'Where the browser goes after a mailbox was connected, when the session names no redirectUri.',
  }),
  dataDir: setting({
    env: 'DATA_DIR',
    path: 'service.dataDir',
    kind: kinds.path,
    fallback: './data',
    about: 'Folder of the file store and of generated secrets.',
  }),
  databaseUrl: setting({
    env: 'DATABASE_URL',
    path: 'service.database.url',
    kind: kinds.url('postgres', 'postgresql'),
    fallback: undefined,
    secret: true,
    about: 'PostgreSQL connection URL, needed for several instances; without it the file store in DATA_DIR is used.',
  }),
  databaseMaxConnections: setting({
    env: 'DATABASE_MAX_CONNECTIONS',
    path: 'service.database.maxConnections',
    kind: kinds.integer(2, 1000),
    fallback: 20,
    about: 'Most PostgreSQL connections of one instance.',
  }),
  synchronous: setting({
    env: 'SQLITE_SYNCHRONOUS',
    path: 'service.database.synchronous',
    kind: kinds.oneOf('NORMAL', 'FULL'),
    fallback: 'NORMAL',
    about:
      'File store: NORMAL survives a killed process, FULL also survives power loss and costs a disk flush per commit.',
  }),
  autoApplyMigrations: setting({
    env: 'AUTO_APPLY_MIGRATIONS',
    path: 'service.migrations.autoApply',
    kind: kinds.boolean,
    fallback: true,
    about: 'Migrate the database at start; when false, a start with pending migrations stops and names the command.',
  }),
  redisUrl: setting({
    env: 'REDIS_URL',
    path: 'service.redis.url',
    kind: kinds.url('redis', 'rediss'),
    fallback: undefined,
    secret: true,
    about: 'Moves caching, queues, pub/sub and deduplication keys to Redis; the same for all replicas.',
  }),

  serviceApiKey: setting({
    env: 'SERVICE_API_KEY',
    path: 'service.apiKey',
    kind: kinds.text,
    fallback: undefined,
    secret: true,
    about:
      'API key that clients send as a bearer token; generated into DATA_DIR on the file store, required with DATABASE_URL.',
  }),
  adminUsername: setting({
    env: 'ADMIN_USERNAME',
    path: 'service.admin.username',
    kind: kinds.text,
    fallback: 'admin',
    about: 'User name of the admin portal.',
  }),
  adminPassword: setting({
    env: 'ADMIN_PASSWORD',
    path: 'service.admin.password',
    kind: kinds.text,
    fallback: undefined,
    secret: true,
    about:
      'Password of the admin portal; generated into DATA_DIR on the file store, without it the portal is off with DATABASE_URL.',
  }),
  encryptionKeys: setting({
    env: 'ENCRYPTION_KEYS',
    path: 'service.encryptionKeys',
    kind: kinds.keyRing,
    fallback: undefined,
    secret: true,
    about:
      'Keys that seal stored credentials, k2:<base64>,k1:<base64>; the first one seals, all of them open. Generated when missing.',
  }),
  licenceKey: setting({
    env: 'SERVICE_LICENSE_KEY',
    path: 'service.licenseKey',
    kind: kinds.text,
    fallback: undefined,
    secret: true,
    about: 'Licence key; without it the plan is community, without a cap on accounts.',
  }),

  privateTargets: setting({
    env: 'PRIVATE_TARGETS',
    path: 'service.network.privateTargets',
    kind: kinds.privateTargets,
    fallback: {
      text: 'loopback, or none with NODE_ENV=production',
      of: ({ production }) => (production ? 'none' : 'loopback'),
    },
    about:
      'Which non-public addresses webhooks, callbacks and mail hosts may be at: none, loopback, all, or hosts and networks. Plain http is allowed only to those.',
  }),
  trustedProxies: setting({
    env: 'TRUSTED_PROXIES',
    path: 'service.network.trustedProxies',
    kind: kinds.list(kinds.network),
    fallback: [],
    about: 'Proxies whose X-Forwarded-* headers are believed.',
  }),
  apiRequestsPerMinute: setting({
    env: 'API_REQUESTS_PER_MINUTE',
    path: 'service.rateLimit.apiRequestsPerMinute',
    kind: kinds.integer(0, 1_000_000),
    fallback: 0,
    about: 'Most requests per minute and API key; 0 is no limit.',
  }),
} as const
