// `.env.example` and `docs/settings.md`, from the table of settings.
import { SETTINGS } from '../../src/config/settings/index.ts'

const SECTIONS = [
  ['Service', ['PORT', 'REDIS_URL']],
  ['Secrets', ['SERVICE_API_KEY', 'SERVICE_LICENSE_KEY']],
  ['Network', ['PRIVATE_TARGETS', 'API_REQUESTS_PER_MINUTE']],
  ['Hosted pages', ['AUTH_SCREEN_NAME', 'AUTH_SCREEN_PRIVACY_URL']],
  ['Sync, webhooks, retention', ['SYNC_INITIAL_MESSAGES', 'RETENTION_AUDIT_DAYS']],
  ['Google', ['GOOGLE_CLIENT_ID', 'GOOGLE_PUBSUB_URL']],
  ['Microsoft', ['MICROSOFT_CLIENT_ID', 'MICROSOFT_GRAPH_URL']],
  ['Cloud Pub/Sub for gmail', ['PUBSUB_TOPIC_NAME', 'PUBSUB_MAX_RETRIES']],
  ['Log', ['LOG_LEVEL', 'OTEL_LOGS_SCHEDULED_DELAY_MS']],
]

export function envExample() {
  const lines = [
    '# Every setting with its default; generated, see `npm run generate`. Copy what you change to the environment of the service.',
    '# The same settings may stand in service.config.json (docs/settings.md has their names there).',
  ]
  for (const [title, settings] of sections()) {
    lines.push('', `# ${title}`)
    for (const setting of settings) lines.push(`# ${setting.about}`, `# ${setting.env}=${defaultText(setting)}`)
  }
  return `${lines.join('\n')}\n`
}

export function settingsPage() {
  const lines = [
    '# Settings',
    '',
    'Generated from `src/config/settings/` by `npm run generate`.',
    '',
    'A setting comes from the environment, else from `service.config.json` in the working directory (`SERVICE_CONFIG` names',
    'another file), else it has its default. The file is nested JSON, comments allowed: `service.app.redirectUrl` stands at',
    '`{"service": {"app": {"redirectUrl": "…"}}}`. A value `"env:NAME"` in it is taken from the environment. Lists are separated by',
    'commas in the environment and may be JSON lists in the file. All faults are told at once, and the service does not start.',
    '`NODE_ENV=production` makes the defaults stricter where it is said. No secret is ever logged.',
  ]
  for (const [title, settings] of sections()) {
    lines.push('', `## ${title}`, '', '| Variable | In the file | Default | Meaning |', '|---|---|---|---|')
    for (const setting of settings) {
      const shown = defaultText(setting)
      // "Must be a text" says nothing.
      const must = setting.kind.expects.startsWith('a text') ? '' : ` Must be ${setting.kind.expects}.`
      lines.push(
        `| \`${setting.env}\`${setting.secret ? ' (secret)' : ''} | \`${setting.path}\` | ${shown === '' ? '' : `\`${shown}\``} | ${setting.about}${must} |`,
      )
    }
  }
  return `${lines.join('\n')}\n`
}

/** The table in its order, cut at the first and last variable of each section; every setting must be in one. */
function sections() {
  const all = Object.values(SETTINGS)
  const at = (env) => all.findIndex((setting) => setting.env === env)
  const cut = SECTIONS.map(([title, [first, last]]) => [title, all.slice(at(first), at(last) + 1)])
  const count = cut.reduce((sum, [, settings]) => sum + settings.length, 0)
  if (count !== all.length) throw new Error(`the sections of the settings hold ${count} of ${all.length}`)
  return cut
}

function defaultText({ fallback }) {
  if (fallback === undefined) return ''
  if (Array.isArray(fallback)) return fallback.join(',')
  return typeof fallback === 'object' ? fallback.text : String(fallback)
}
