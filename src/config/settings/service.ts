import * as kinds from '../kinds.ts'
import { setting } from '../setting.ts'

/** IMAP, submission, SMTP, and https for CalDAV. */
const FORM_PORTS = [143, 993, 25, 465, 587, 443]

/** The server, its store, its secrets and what it may reach. */
export const serviceSettings = {
  port: setting({
    env: 'PORT',
    path: 'service.port',
    kind: kinds.integer(0, 65_535),
    fallback: 8080,
    about: 'Port of the HTTP server; 0 selects a free port.',
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
      'URL of the service for browsers; the base of every link and OAuth redirect. May have a path, which the proxy removes.',
  }),
  redirectUrl: setting({
    env: 'APP_REDIRECT_URL',
    path: 'service.app.redirectUrl',
    kind: kinds.redirectTarget,
    fallback: undefined,
    about: 'URL to which users return after connecting a mailbox, for sessions without redirectUri.',
  }),
  dataDir: setting({
    env: 'DATA_DIR',
    path: 'service.dataDir',
    kind: kinds.path,
    fallback: './data',
    about: 'Folder of the file store and generated secrets.',
  }),
  databaseUrl: setting({
    env: 'DATABASE_URL',
    path: 'service.database.url',
    kind: kinds.url('postgres', 'postgresql'),
    fallback: undefined,
    secret: true,
    about:
      'PostgreSQL connection URL, required for several instances. Without it the service uses the file store in DATA_DIR.',
  }),
  databaseMaxConnections: setting({
    env: 'DATABASE_MAX_CONNECTIONS',
    path: 'service.database.maxConnections',
    kind: kinds.integer(2, 1000),
    fallback: 20,
    about: 'Maximum number of PostgreSQL connections per instance.',
  }),
  synchronous: setting({
    env: 'SQLITE_SYNCHRONOUS',
    path: 'service.database.synchronous',
    kind: kinds.oneOf('NORMAL', 'FULL'),
    fallback: 'NORMAL',
    about:
      'File store: NORMAL survives a killed process. FULL also survives a power loss, at the cost of a disk flush per commit.',
  }),
  autoApplyMigrations: setting({
    env: 'AUTO_APPLY_MIGRATIONS',
    path: 'service.migrations.autoApply',
    kind: kinds.boolean,
    fallback: true,
    about:
      'Migrate the database at the start. When false, a start with pending migrations fails and names the command.',
  }),
  redisUrl: setting({
    env: 'REDIS_URL',
    path: 'service.redis.url',
    kind: kinds.url('redis', 'rediss'),
    fallback: undefined,
    secret: true,
    about: 'Redis URL for cache, queues, pub/sub and deduplication keys; the same for all replicas.',
  }),

  serviceApiKey: setting({
    env: 'SERVICE_API_KEY',
    path: 'service.apiKey',
    kind: kinds.apiKeys,
    fallback: undefined,
    secret: true,
    generated: 'file-store',
    about:
      'API key that clients send as a bearer token, at least 32 characters. Two keys, new,old, are both accepted while clients change to the new one. Generated in DATA_DIR on the file store; required with DATABASE_URL.',
  }),
  adminUsername: setting({
    env: 'ADMIN_USERNAME',
    path: 'service.admin.username',
    kind: kinds.text,
    fallback: 'admin',
    about: 'Username of the admin portal.',
  }),
  adminPassword: setting({
    env: 'ADMIN_PASSWORD',
    path: 'service.admin.password',
    kind: kinds.text,
    fallback: undefined,
    secret: true,
    generated: 'file-store',
    about:
      'Password of the admin portal. Generated in DATA_DIR on the file store; with DATABASE_URL the portal is disabled without it.',
  }),
  encryptionKeys: setting({
    env: 'ENCRYPTION_KEYS',
    path: 'service.encryptionKeys',
    kind: kinds.keyRing,
    fallback: undefined,
    secret: true,
    generated: 'always',
    about:
      'Keys that encrypt stored credentials: k2:<base64>,k1:<base64>. The first key encrypts, all keys decrypt. Generated when missing.',
  }),
  licenceKey: setting({
    env: 'SERVICE_LICENSE_KEY',
    path: 'service.licenseKey',
    kind: kinds.text,
    fallback: undefined,
    secret: true,
    about: 'Licence key. Without it the plan is community, which has no account limit.',
  }),
  licencePublicKey: setting({
    env: 'LICENSE_PUBLIC_KEY',
    path: 'service.licensePublicKey',
    kind: kinds.ed25519PublicKey,
    fallback: undefined,
    about:
      'Public key of the issuer of the licence key, for licence keys of your own: see `posthorn licence keypair`. Default: the issuer of Posthorn.',
  }),

  privateTargets: setting({
    env: 'PRIVATE_TARGETS',
    path: 'service.network.privateTargets',
    kind: kinds.privateTargets,
    fallback: {
      text: 'none; loopback while PUBLIC_URL is a loopback address',
      of: ({ isLocal }) => (isLocal ? 'loopback' : 'none'),
    },
    about:
      'Non-public addresses allowed for webhooks, callbacks and mail hosts: none, loopback, all, or hosts and networks. Plain http and IMAP without encryption are allowed only to these.',
  }),
  formPorts: setting({
    env: 'FORM_PORTS',
    path: 'service.network.formPorts',
    kind: kinds.formPorts,
    fallback: {
      text: `${FORM_PORTS.join(',')}; any while PUBLIC_URL is a loopback address`,
      of: ({ isLocal }) => (isLocal ? 'any' : FORM_PORTS),
    },
    about:
      'Ports of mail servers that visitors may enter in the hosted form: a list, or any. With a list, the form reports every unreachable server after the same time, so that it cannot be used to scan ports.',
  }),
  trustedProxies: setting({
    env: 'TRUSTED_PROXIES',
    path: 'service.network.trustedProxies',
    kind: kinds.list(kinds.network),
    fallback: [],
    about: 'Proxies whose X-Forwarded-* headers are trusted.',
  }),
  maxConnections: setting({
    env: 'MAX_CONNECTIONS',
    path: 'service.network.maxConnections',
    kind: kinds.integer(100, 1_000_000),
    fallback: 4000,
    about:
      'Maximum number of open HTTP connections per instance. One address may open a quarter of them, a trusted proxy all.',
  }),
  maxStreams: setting({
    env: 'MAX_STREAMS',
    path: 'service.network.maxStreams',
    kind: kinds.integer(1, 1_000_000),
    fallback: 2000,
    about: 'Maximum number of open event streams per instance. Each is a connection, see MAX_CONNECTIONS.',
  }),
  maxStreamsPerKey: setting({
    env: 'MAX_STREAMS_PER_KEY',
    path: 'service.network.maxStreamsPerKey',
    kind: kinds.integer(1, 1_000_000),
    fallback: 100,
    about:
      'Maximum number of open event streams per API key and instance. The browsers of the admin portal share one limit.',
  }),
  mcpEnabled: setting({
    env: 'MCP_ENABLED',
    path: 'service.mcp.enabled',
    kind: kinds.boolean,
    fallback: true,
    about: 'Serve MCP, for language models, at /mcp. It needs an API key, and permits what the key permits.',
  }),
  mcpReadOnly: setting({
    env: 'MCP_READ_ONLY',
    path: 'service.mcp.readOnly',
    kind: kinds.boolean,
    fallback: false,
    about: 'Offer only tools that read at /mcp, also to keys that may write.',
  }),
  mcpAllowedOrigins: setting({
    env: 'MCP_ALLOWED_ORIGINS',
    path: 'service.mcp.allowedOrigins',
    kind: kinds.list(kinds.origin),
    fallback: [],
    about:
      'Origins that may send requests to /mcp beside that of PUBLIC_URL, such as https://chat.example.com. Programs other than browsers send none.',
  }),
  apiRequestsPerMinute: setting({
    env: 'API_REQUESTS_PER_MINUTE',
    path: 'service.rateLimit.apiRequestsPerMinute',
    kind: kinds.integer(0, 1_000_000),
    fallback: 0,
    about: 'Maximum number of requests per minute and API key; 0 means no limit.',
  }),
} as const
